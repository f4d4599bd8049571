#include "model/stack/store.hpp"

#include <array>
#include <string_view>

#include "model/input/known_word.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 2> kRoutes{"host", "two_hop"};

}  // namespace

StoreSettings read_store_settings(TomlTable& root) {
  StoreSettings store;
  if (auto table = root.table_if("store")) {
    store.unlinked = word_or(*table, "unlinked", kRoutes, store.unlinked, "route of copies");
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
    store.nccl_decode_share = table->number("decode_share", {0.0, 1.0, true});
    store.nccl_source = table->text("source");
    table->finish();
  }
  return store;
}

}  // namespace tbdsim
