#include "model/cost/uncertainty.hpp"

#include <cmath>

namespace tbdsim {

double step_spread(const SpreadConstants& spread, double transfer_distance, bool tensor_core, bool exchange,
                   double stack_spread) {
  const double transferred = spread.transferred * transfer_distance;
  const double tensor = tensor_core ? spread.tensor_core : 0.0;
  const double several = exchange ? spread.exchange : 0.0;
  return std::sqrt(tensor * tensor + several * several + spread.board * spread.board + spread.row * spread.row +
                   transferred * transferred + stack_spread * stack_spread);
}

}  // namespace tbdsim
