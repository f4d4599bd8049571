#include "model/units/quantity.hpp"

#ifdef ILLEGAL
bool below() { return tbdsim::BytesPerSecond(1.0) < tbdsim::Bytes(2.0); }
#else
bool below() { return tbdsim::BytesPerSecond(1.0) < tbdsim::Bytes(2.0) / tbdsim::Seconds(1.0); }
#endif
