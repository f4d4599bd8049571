#include "model/cost/uncertainty.hpp"

#include <cmath>

namespace tbdsim {

double step_spread(const SpreadConstants& spread, double transfer_distance, double stack_spread) {
  const double transferred = spread.transferred * transfer_distance;
  return std::sqrt(spread.board * spread.board + spread.row * spread.row + transferred * transferred +
                   stack_spread * stack_spread);
}

}  // namespace tbdsim
