// The catalogue's families of chips, for tests that describe devices and boards themselves.
#pragma once
#include <string>

#include "model/hardware/architecture.hpp"

namespace tbdsim {

inline const Architectures& all_architectures() {
  static const Architectures kAll = Architectures::load(TBDSIM_SOURCE_DIR).value();
  return kAll;
}

inline const Architecture& chip(const std::string& text, const std::string& capability = "") {
  return all_architectures().find(text, capability);
}

/// Names the architecture of a device or board, with what is known of it.
template <class Described>
void name_architecture(Described& described, const std::string& text) {
  described.architecture = text;
  described.chip = chip(text);
}

}  // namespace tbdsim
