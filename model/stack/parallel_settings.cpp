#include "model/stack/parallel_settings.hpp"

#include <array>

#include "model/input/known_word.hpp"

namespace tbdsim {
namespace {

/// The value of a word; the first one where the key is absent.
template <class Value, std::size_t N>
Value word_or(TomlTable& table, std::string_view key, const std::array<std::string_view, N>& words, Value absent,
              std::string_view noun) {
  if (!table.has(std::string(key))) return absent;
  return read_word<Value>(table, key, words, noun).value_or(absent);
}

constexpr std::array<std::string_view, 3> kOverlaps{"none", "pieces", "weights"};
constexpr std::array<std::string_view, 2> kSelective{"attention", "operators"}, kContext{"gather", "ring"};

}  // namespace

ParallelSettings read_parallel_settings(TomlTable table) {
  ParallelSettings s;
  s.every_job = table.boolean_or("every_job", s.every_job);
  s.sequence = table.boolean_or("sequence", s.sequence);
  s.regathers = table.boolean_or("regathers", s.regathers);
  s.tensor_overlap = word_or(table, "tensor_overlap", kOverlaps, s.tensor_overlap, "overlap of the tensor axis");
  s.selective = word_or(table, "selective_recompute", kSelective, s.selective, "selective recomputation");
  s.context = word_or(table, "context_exchange", kContext, s.context, "exchange of the context axis");
  s.masters = table.boolean_or("masters", s.masters);
  s.casts_shards = table.boolean_or("casts_shards", s.casts_shards);
  s.gathers_8_bit = table.boolean_or("gathers_8_bit", s.gathers_8_bit);
  s.wide_gradients = table.boolean_or("wide_gradients", s.wide_gradients);
  s.gradient_sum = table.quantity_if<Bytes>("gradient_sum").value_or(s.gradient_sum);
  s.fuses_gradient_sum = table.boolean_or("fuses_gradient_sum", s.fuses_gradient_sum);
  s.overlaps_gradients = table.boolean_or("overlaps_gradients", s.overlaps_gradients);
  s.overlaps_parameters = table.boolean_or("overlaps_parameters", s.overlaps_parameters);
  s.broadcasts_parameters = table.boolean_or("broadcasts_parameters", s.broadcasts_parameters);
  s.reduces_everywhere = table.boolean_or("reduces_everywhere", s.reduces_everywhere);
  s.bucket_copies = table.quantity_if<Bytes>("bucket_copies").value_or(s.bucket_copies);
  s.bucket = table.quantity_if<Bytes>("bucket").value_or(s.bucket);
  s.bucket_per_rank = table.quantity_if<Bytes>("bucket_per_rank").value_or(s.bucket_per_rank);
  s.blocking_hops = table.boolean_or("blocking_hops", s.blocking_hops);
  s.clips = table.boolean_or("clips", s.clips);
  s.zero = static_cast<int>(table.integer_or("zero", s.zero, 0, 3));
  s.shard_ranks = static_cast<int>(table.integer_or("shard_ranks", s.shard_ranks, 1, 1000000));
  s.shards_stages = table.boolean_or("shards_stages", s.shards_stages);
  s.most_zero = static_cast<int>(table.integer_or("most_zero", s.most_zero, 0, 3));
  s.schedules = table.text_or("schedules", s.schedules);
  s.update_moves = table.quantity_if<Bytes>("update_moves").value_or(s.update_moves);
  s.loss_forward = table.quantity_if<Bytes>("loss_forward").value_or(s.loss_forward);
  s.loss_backward = table.quantity_if<Bytes>("loss_backward").value_or(s.loss_backward);
  s.loss_operators = table.number_or("loss_operators", s.loss_operators, {0.0, 1000.0});
  s.batch_operators = table.number_or("batch_operators", s.batch_operators, {0.0, 1000.0});
  s.expert_spread = table.number_or("expert_spread", s.expert_spread, {0.0, 1000.0});
  (void)table.text("source");
  table.finish();
  return s;
}

}  // namespace tbdsim
