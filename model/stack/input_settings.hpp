#pragma once
#include <string>

#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// How decoded samples reach the trainer.
enum class InputMode {
  stream,  ///< threads or processes that each take the next sample or batch when they are free (PyTorch, TensorFlow, DALI)
  barrier  ///< all threads decode one batch of the node and wait for the slowest (MXNet's record iterator)
};

/// A framework's input side. Read from the `[input]` table of a stack.
struct InputSettings {
  std::string name = "synthetic";  ///< default `--input`
  InputMode mode = InputMode::stream;
  int threads = 0;                 ///< that decode on a node, at most one fewer than its cores; 0: that many
  int prefetch = 2;                ///< batches decoded ahead
  bool pinned = true;              ///< batches lie in page-locked memory, from which a copy engine reads by itself
  bool copy_overlaps = true;       ///< they are copied beside the step before; false: in the stream of the kernels, before them
  bool synthetic_on_host = false;  ///< made-up samples too lie in host memory and are copied every step; else in GPU memory
  Seconds decode;                  ///< per sample and thread, if it differs from the input's own; 0: it does not
  std::string source;
};

/// `[input]` of a stack file, optional.
[[nodiscard]] InputSettings read_input_settings(TomlTable& root);

}  // namespace tbdsim
