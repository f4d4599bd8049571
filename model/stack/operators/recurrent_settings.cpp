#include "model/stack/operators/recurrent_settings.hpp"

#include <fmt/format.h>

#include <string>

namespace tbdsim {

RecurrentSettings read_recurrent_settings(TomlTable& table) {
  RecurrentSettings s;
  const std::string kernels = table.text_or("recurrent", "library");
  if (kernels == "cells")
    s.kernels = RecurrentKernels::cells;
  else if (kernels != "library")
    table.problem("recurrent", fmt::format("expected \"library\" or \"cells\", got \"{}\"", kernels));
  s.persistent = table.boolean_or("persistent_recurrent", s.persistent);
  return s;
}

}  // namespace tbdsim
