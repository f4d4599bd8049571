#include "tests/bench/bench.hpp"

#include <fmt/core.h>

#include "model/units/format.hpp"

namespace tbdsim::bench {

std::string_view Report::verdict(bool met) {
  all_met_ = all_met_ && met;
  return met ? "met" : "MISSED";
}

void Report::print_time(std::string_view name, Spread seconds, Seconds goal) {
  fmt::print("{:<60} median {:>9}  min {:>9}  max {:>9}  goal <= {:>9}  {}\n", name, format(Seconds(seconds.median)),
             format(Seconds(seconds.min)), format(Seconds(seconds.max)), format(goal), verdict(seconds.median <= goal.base()));
}

void Report::print_rate(std::string_view name, Spread rates, std::string_view unit, double goal_per_second) {
  fmt::print("{:<60} median {:>9.3g}  min {:>9.3g}  max {:>9.3g}  goal >= {:>9.3g}  {} ({}/s)\n", name, rates.median, rates.min,
             rates.max, goal_per_second, verdict(rates.median >= goal_per_second), unit);
}

void Report::size(std::string_view name, Bytes value, Bytes goal) {
  if (!wanted(name)) return;
  fmt::print("{:<60} value  {:>9} {:>32} goal <= {:>9}  {}\n", name, format(value), "", format(goal), verdict(value <= goal));
}

void Report::ratio(std::string_view name, double value, double goal) {
  if (!wanted(name)) return;
  fmt::print("{:<60} value  {:>9.2f} {:>32} goal <= {:>9.2f}  {}\n", name, value, "", goal, verdict(value <= goal));
}

}  // namespace tbdsim::bench
