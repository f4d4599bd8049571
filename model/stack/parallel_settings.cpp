#include "model/stack/parallel_settings.hpp"

#include <array>
#include <string_view>

#include "model/input/known_word.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 2> kSelective{"attention", "operators"};
constexpr std::array<std::string_view, 3> kContext{"gather", "ring", "all-to-all"};

}  // namespace

std::string_view name(ContextExchange exchange) { return kContext[static_cast<std::size_t>(exchange)]; }

ParallelSettings read_parallel_settings(TomlTable table) {
  ParallelSettings s;
  s.every_job = table.boolean_or("every_job", s.every_job);
  s.tensor = read_tensor_axis(table);
  s.selective = word_or(table, "selective_recompute", kSelective, s.selective, "selective recomputation");
  s.recompute_stops = table.boolean_or("recompute_stops", s.recompute_stops);
  s.context = word_or(table, "context_exchange", kContext, s.context, "exchange of the context axis");
  s.pipeline = read_pipeline_settings(table);
  s.shards = read_shard_settings(table);
  s.weights = read_weight_copies(table);
  s.gradients = read_gradient_sums(table);
  s.update = read_divided_update(table);
  s.loss = read_loss_kernels(table);
  s.norms = read_norm_kernels(table);
  s.experts = read_expert_axis(table);
  s.offload = read_offload_settings(table);
  s.batch_operators = table.number_or("batch_operators", s.batch_operators, {0.0, 1000.0});
  (void)table.text("source");
  table.finish();
  return s;
}

}  // namespace tbdsim
