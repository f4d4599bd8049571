#include "model/report/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kWidth = 80, kLabel = 14;
constexpr Seconds kDay{86400.0};
constexpr double kJoulesOfKilowattHour = 3.6e6;

std::string section(const std::string& label, const std::string& text) {
  return fmt::format("{:<{}}{}\n", label, kLabel, wrapped(text, kWidth, kLabel));
}

std::string days(Seconds time) { return fmt::format("{} days", number_text(time / kDay)); }

std::string short_number(double value) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e12, "T"}, {1e9, "B"}, {1e6, "M"}};
  for (const auto& [unit, letter] : kUnits)
    if (value >= unit) return fmt::format("{:.4g}{}", value / unit, letter);
  return fmt::format("{:.0f}", value);
}

std::string energy(double joules) {
  const double hours = joules / kJoulesOfKilowattHour;
  return hours >= 1e6   ? fmt::format("{:.3g} GWh", hours / 1e6)
         : hours >= 1e3 ? fmt::format("{:.3g} MWh", hours / 1e3)
                        : fmt::format("{:.3g} kWh", hours);
}

std::string carbon(double grams) {
  return grams >= 1e6 ? fmt::format("{} t", number_text(grams / 1e6)) : fmt::format("{} kg", number_text(grams / 1e3));
}

/// "paper: arXiv:2407.21783", the name that a source begins with.
std::string named(const std::string& source) {
  return source.substr(0, std::min({source.find(','), source.find(" ("), source.find(';')}));
}

std::string money(Usd amount) {
  return amount >= Usd(1e6) ? fmt::format("{:.3g} million USD", amount.base() / 1e6) : format(amount);
}

/// A tenth of a percent of a long run is hours.
std::string fine_percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

std::string times(double expected) {
  constexpr double kFew = 10.0;
  return expected < kFew ? fmt::format("{:.2g}", expected) : fmt::format("{:.0f}", expected);
}

std::string losses(const RunEstimate& r) {
  const Goodput& g = r.goodput;
  return fmt::format(
      "{} of the time trains; checkpoints take {}, work done again {}, restarts {}. Failures interrupt it every {}, {} times; a "
      "restart takes {}",
      fine_percent(g.share), fine_percent(g.lost_to_checkpoints), fine_percent(g.lost_to_rework),
      fine_percent(g.lost_to_restarts), format(g.between_interruptions), times(r.interruptions), format(g.restart));
}

std::string checkpoints(const RunEstimate& r) {
  const Goodput& g = r.goodput;
  std::string text = fmt::format("{} in {}, one every {} ({})", format(g.checkpoint), format(g.write), format(g.interval),
                                 g.best_interval ? "the best interval" : "as asked");
  if (r.spares > 0)
    text += fmt::format("; {} spare {}{} while failed ones are repaired", r.spares, r.whole_nodes ? "node" : "host",
                        r.spares == 1 ? "" : "s");
  return text;
}

std::string outlay(const RunEstimate& r) {
  std::string text;
  if (r.power && r.energy && r.carbon_grams)
    text = fmt::format("{} and {} of CO2, {} on average", energy(r.energy->base()), carbon(*r.carbon_grams), format(*r.power));
  if (r.cost)
    text += fmt::format("{}{}{}", text.empty() ? "" : "; ", money(*r.cost),
                        r.spares == 0   ? ""
                        : r.whole_nodes ? ", spare nodes included"
                                        : ", spare hosts included");
  return text;
}

std::string assumed(const RunEstimate& r) {
  TextTable table({{"operations."}, {"", Align::right}, {"source"}});
  for (const RunAssumption& a : r.assumptions) table.add({a.key, a.value, named(a.source)});
  return "\nAssumed of the run; --set operations.KEY=VALUE changes it\n" + table.text(2) + '\n';
}

}  // namespace

std::string run_text(const RunEstimate& r) {
  std::string text = section(
      "Run", fmt::format("{} tokens in {} steps take {} (80 % range {} to {}), {} of them training", short_number(r.tokens),
                         r.steps, days(r.elapsed.value), days(r.elapsed.low), days(r.elapsed.high), days(r.training.value)));
  text += section("Goodput", losses(r)) + section("Checkpoints", checkpoints(r));
  if (const std::string spent = outlay(r); !spent.empty()) text += section("Outlay", spent);
  return text + assumed(r);
}

}  // namespace tbdsim
