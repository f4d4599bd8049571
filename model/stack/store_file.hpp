#pragma once
#include "model/input/toml_reader.hpp"
#include "model/stack/input_settings.hpp"
#include "model/stack/store.hpp"

namespace tbdsim {

/// `[store]` and `[nccl_store]` of a stack file, both optional.
void read_store(TomlTable& root, StoreSettings& store);
/// `[input]`, optional.
void read_input(TomlTable& root, InputSettings& input);

}  // namespace tbdsim
