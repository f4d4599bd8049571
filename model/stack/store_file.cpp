#include "model/stack/store_file.hpp"

#include <fmt/format.h>

namespace tbdsim {

void read_store(TomlTable& root, StoreSettings& store) {
  if (auto table = root.table_if("store")) {
    const std::string unlinked = table->text_or("unlinked", "host");
    if (unlinked == "two_hop")
      store.unlinked = UnlinkedRoute::two_hop;
    else if (unlinked != "host")
      table->problem("unlinked", fmt::format("expected \"host\" or \"two_hop\", got \"{}\"", unlinked));
    store.copy_workers = static_cast<int>(table->integer_or("copy_workers", store.copy_workers, 1, 64));
    store.keys_per_group = static_cast<int>(table->integer_or("keys_per_group", store.keys_per_group, 1, 10'000));
    const auto time = [&](std::string_view key) { return table->quantity_if<Seconds>(key, kNotNegative).value_or(Seconds(0.0)); };
    store.p2p_key = time("p2p_key");
    store.p2p_key_peer = time("p2p_key_peer");
    store.nccl_key_gpu = time("nccl_key_gpu");
    store.source = table->text("source");
    table->finish();
  }
  if (auto table = root.table_if("nccl_store")) {
    store.nccl_slowdown = table->number("slowdown", kPositive);
    store.nccl_decode_threads_lost = static_cast<int>(table->integer("decode_threads_lost", 0, 10'000));
    store.nccl_source = table->text("source");
    table->finish();
  }
}

void read_input(TomlTable& root, InputSettings& input) {
  auto table = root.table_if("input");
  if (!table) return;
  input.name = table->text_or("default", input.name);
  const std::string mode = table->text("mode");
  if (mode == "barrier")
    input.mode = InputMode::barrier;
  else if (mode != "stream")
    table->problem("mode", fmt::format("expected \"stream\" or \"barrier\", got \"{}\"", mode));
  input.threads = static_cast<int>(table->integer_or("threads", 0, 1, 10'000));
  input.prefetch = static_cast<int>(table->integer_or("prefetch", input.prefetch, 1, 1'000));
  input.pinned = table->boolean_or("pinned", input.pinned);
  input.copy_overlaps = table->boolean_or("copy_overlaps", input.copy_overlaps);
  input.decode = table->quantity_if<Seconds>("decode").value_or(Seconds(0.0));
  input.source = table->text("source");
  table->finish();
}

}  // namespace tbdsim
