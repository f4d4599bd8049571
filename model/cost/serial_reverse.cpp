#include "model/cost/serial_reverse.hpp"

namespace tbdsim {

Seconds serial_reverse_time(double batch, double width, const Architecture& chip) { return batch * width * chip.reverse_access; }

}  // namespace tbdsim
