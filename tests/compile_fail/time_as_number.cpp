#include "model/units/quantity.hpp"

#ifdef ILLEGAL
double number(tbdsim::Seconds t) { return t; }
#else
double number(tbdsim::Seconds t) { return t / tbdsim::Seconds(1e-3); }
#endif
