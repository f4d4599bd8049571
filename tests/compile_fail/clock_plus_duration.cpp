#include "model/units/sim_time.hpp"

#ifdef ILLEGAL
auto later(tbdsim::SimTime now) { return now + tbdsim::Seconds(1.0); }
#else
auto later(tbdsim::SimTime now) { return now + tbdsim::SimTime::from(tbdsim::Seconds(1.0)); }
#endif
