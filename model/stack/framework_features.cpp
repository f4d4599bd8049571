#include "model/stack/framework_features.hpp"

namespace tbdsim {

FrameworkFeatures read_framework_features(TomlTable table) {
  FrameworkFeatures features;
  features.amp = table.boolean_or("amp", false);
  features.casts_weights = table.boolean_or("casts_weights", false);
  features.byte_states = table.boolean_or("byte_states", false);
  features.shards_states = table.boolean_or("shards_states", false);
  features.gradients_from_start = table.boolean_or("gradients_from_start", false);
  features.loader_per_rank = table.boolean_or("loader_per_rank", false);
  (void)table.text("source");
  table.finish();
  return features;
}

}  // namespace tbdsim
