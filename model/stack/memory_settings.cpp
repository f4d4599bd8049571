#include "model/stack/memory_settings.hpp"

#include <array>
#include <string_view>

#include "model/input/known_word.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 4> kPlans{"mxnet", "caching_allocator", "bfc", "blobs"};

}  // namespace

MemorySettings read_memory_settings(TomlTable table) {
  MemorySettings settings;
  settings.plan = read_word<MemoryPlan>(table, "plan", kPlans, "plan of memory").value_or(settings.plan);
  settings.context = table.quantity<Bytes>("context", kNotNegative);
  settings.context_per_thread = table.quantity_if<Bytes>("context_per_thread").value_or(Bytes(0.0));
  settings.training_start = table.quantity_if<Bytes>("training_start").value_or(Bytes(0.0));
  if (table.has("batches_on_device")) settings.batches_on_device = static_cast<int>(table.integer("batches_on_device", 1, 64));
  settings.online_loss = table.boolean_or("online_loss", false);
  settings.loss_arrays = table.number_or("loss_arrays", settings.loss_arrays, {0.0, 100.0});
  settings.parallel_loss_arrays = table.number_or("parallel_loss_arrays", 0.0, {0.0, 100.0});
  settings.keeps_gradients = table.boolean_or("keeps_gradients", false);
  settings.adam_arrays = table.number_or("adam_arrays", 0, kNotNegative);
  settings.flattens_gradients = table.boolean_or("flattens_gradients", false);
  (void)table.text("source");
  table.finish();
  return settings;
}

}  // namespace tbdsim
