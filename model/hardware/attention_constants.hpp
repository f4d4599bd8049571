#pragma once
#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Constants of one direction of an attention kernel, shared by all boards. The defaults are those of a kernel that nobody
/// measured.
struct AttentionPass {
  double share = 1.0;        ///< of the 16-bit peak at the board's kept clock; above 1 where exponentials hide after all
  double share_8_bit = 0.6;  ///< of twice that peak, with numbers of 8 bits
  double prologue = 0.0;     ///< what a block costs to start and finish, in keys
  double tail = 1.0;         ///< part of the longest block that the others do not cover
};

/// Constants of one attention kernel.
struct AttentionConstants {
  AttentionPass forward, backward;
  double few_blocks = 1.0;     ///< time of a key where every multiprocessor has at most one block, against a full one
  double wide = 1.0;           ///< share of the rate that heads of more than 128 features reach, forward
  double window = 86.0;        ///< keys that the mask of a window costs a block, forward
  double split = 0.8;          ///< blocks over places that a kernel which splits keys aims at
  bool borrowed = false;       ///< from another kernel; not of the file
  Seconds start;               ///< beside the start of any kernel
  Seconds start_per_doubling;  ///< of the sequence, from 64 to 512 rows
  double rate = 1.0;           ///< products and exponentials against that kernel's; not of the file
};

/// A table [attention.NAME] of hardware/kernels.toml.
[[nodiscard]] AttentionConstants read_attention_constants(TomlTable table);

}  // namespace tbdsim
