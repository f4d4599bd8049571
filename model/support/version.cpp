#include "model/support/version.hpp"

namespace tbdsim {

std::string_view version() { return TBDSIM_VERSION; }

}  // namespace tbdsim
