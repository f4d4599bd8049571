#include "model/cost/address_translation.hpp"

#include <algorithm>

namespace tbdsim {
namespace {

constexpr Bytes kPiece(32.0);  // what a row of a tile loads at a time: one sector
constexpr Bytes kPage(128.0 * 1024.0);
constexpr Bytes kReach(128e6);

}  // namespace

double missed_translations(Bytes row, Bytes footprint) {
  if (footprint <= kReach) return 0.0;
  return row / kPiece * std::min<double>(1.0, row / kPage) * (1.0 - kReach / footprint);
}

}  // namespace tbdsim
