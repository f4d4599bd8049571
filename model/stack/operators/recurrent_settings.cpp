#include "model/stack/operators/recurrent_settings.hpp"

#include <array>
#include <string_view>

#include "model/input/known_word.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 2> kKernels{"library", "cells"};

}  // namespace

RecurrentSettings read_recurrent_settings(TomlTable& table) {
  RecurrentSettings s;
  s.kernels = word_or(table, "recurrent", kKernels, s.kernels, "kind of recurrent layers");
  s.persistent = table.boolean_or("persistent_recurrent", s.persistent);
  return s;
}

}  // namespace tbdsim
