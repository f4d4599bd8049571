#include "model/stack/parallel/tensor_axis.hpp"

#include <array>
#include <string_view>

#include "model/input/known_word.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 4> kOverlaps{"none", "pieces", "one-product", "weights"};
constexpr std::array<std::string_view, 3> kGathers{"none", "one-scale", "all"};

}  // namespace

TensorAxisSettings read_tensor_axis(TomlTable& table) {
  TensorAxisSettings s;
  s.sequence = table.boolean_or("sequence", s.sequence);
  s.regathers = table.boolean_or("regathers", s.regathers);
  s.copies = table.boolean_or("copies_positions", s.copies);
  s.overlap = word_or(table, "tensor_overlap", kOverlaps, s.overlap, "overlap of the tensor axis");
  s.eight_bit_gathers = word_or(table, "eight_bit_gathers", kGathers, s.eight_bit_gathers, "gathers in 8 bits");
  return s;
}

}  // namespace tbdsim
