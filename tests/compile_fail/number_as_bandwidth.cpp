#include "model/units/quantity.hpp"

tbdsim::Seconds duration(tbdsim::BytesPerSecond bandwidth) { return tbdsim::Bytes(1.0) / bandwidth; }

#ifdef ILLEGAL
auto wrong() { return duration(25e9); }
#else
auto right() { return duration(tbdsim::BytesPerSecond(25e9)); }
#endif
