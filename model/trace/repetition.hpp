#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tbdsim::trace {

/// What repeats in a sequence: the parts between neighbouring anchors, but for those that are not alike.
struct Repetition {
  std::size_t length = 0;            ///< elements of a typical one; 0: nothing repeats
  std::vector<std::size_t> anchors;  ///< places in the sequence
  std::vector<bool> alike;           ///< of the part from anchor i to anchor i + 1: whether it is like the typical one

  [[nodiscard]] std::size_t parts() const { return alike.size(); }
  [[nodiscard]] std::size_t length_of(std::size_t part) const { return anchors[part + 1] - anchors[part]; }
};

/// Finds the shortest thing of at least `shortest` elements that repeats three times or more in the second half of
/// `sequence`. `weights`: what each element counts beside its number, such as its time.
///
/// An anchor is one element, or two or four in a row. Those whose parts are shortest are tried first, and the parts must make
/// up 90 % of the half, of its elements and of its weight. A part is alike if it holds 90 % of the elements of the typical one,
/// in any order, and not many more. So an element that is put in now and then, as the copy of a loss to a log, neither shifts
/// what follows nor stands for the repetition itself.
/// Expects elements of at least 0, and a weight for each.
[[nodiscard]] Repetition find_repetition(std::span<const std::int32_t> sequence, std::span<const double> weights,
                                         double shortest = 0.0);

}  // namespace tbdsim::trace
