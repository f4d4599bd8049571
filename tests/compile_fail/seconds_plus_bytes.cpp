#include "model/units/quantity.hpp"

#ifdef ILLEGAL
auto sum() { return tbdsim::Seconds(1.0) + tbdsim::Bytes(1.0); }
#else
auto sum() { return tbdsim::Seconds(1.0) + tbdsim::Bytes(1.0) / tbdsim::BytesPerSecond(1.0); }
#endif
