#pragma once
#include "model/hardware/device.hpp"
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// Compares the rates of a description with each other: the fp32 peak with multiprocessors x lanes x boost clock x 2, tensor
/// rates with FLOP a cycle and multiprocessor, memory bandwidth with clock x bus width or with what its kind of memory has, the
/// power limit with what memory alone takes. What is off by ten or more becomes a problem of the file: a slip of unit or digits.
/// What no GPU has, but a question might ask for, becomes one of the device's `doubts`.
void check_rates(TomlTable& table, Device& device);

}  // namespace tbdsim
