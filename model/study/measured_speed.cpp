#include "model/study/measured_speed.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>

#include "model/support/quote.hpp"
#include "model/units/parse.hpp"

namespace tbdsim {
namespace {

/// "images/s" of "image".
std::string per_second(const std::string& unit) { return unit + "s/s"; }

bool names(std::string_view word, const std::string& unit) {
  return !unit.empty() && (word == per_second(unit) || word == unit + "/s");
}

/// Of a sample or an update, whatever the network calls it.
bool names_any(std::string_view word, std::initializer_list<const char*> units) {
  for (const char* const unit : units)
    if (names(word, unit)) return true;
  return false;
}

tl::unexpected<Errors> unreadable(const std::string& text, const Prediction& base) {
  const std::string unit = base.samples.unit.empty() ? "sample" : base.samples.unit;
  std::string rates = fmt::format("\"410 {}\"", per_second(unit));
  if (!base.samples.part.empty() && base.samples.part != unit)
    rates += fmt::format(", \"50000 {}\"", per_second(base.samples.part));
  return fail(fmt::format("--measured: expected a step's time such as \"97 ms\", or a rate of all GPUs such as {}, got {}", rates,
                          quoted(text)));
}

}  // namespace

Ranged<double> MeasuredSpeed::shown_of(const Prediction& p) const {
  if (rate) return {shown * p.throughput.value, shown * p.throughput.low, shown * p.throughput.high};
  return {shown * p.step_time.value.base(), shown * p.step_time.low.base(), shown * p.step_time.high.base()};
}

double MeasuredSpeed::slower_than(const Prediction& prediction) const {
  return rate ? of(prediction) / value : value / of(prediction);
}

Result<MeasuredSpeed> read_measured_speed(const std::string& text, const Prediction& base) {
  if (const auto time = parse<Seconds>(text); time && *time > Seconds(0.0) && std::isfinite(time->base()))
    return MeasuredSpeed{text, false, time->base(), 1.0, "s"};
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stopped, status] = std::from_chars(text.data(), end, number);
  std::string_view unit(stopped, static_cast<std::size_t>(end - stopped));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  if (status != std::errc() || !(number > 0.0) || !std::isfinite(number)) return unreadable(text, base);
  if (names_any(unit, {"step", "iteration", "update"}) || unit == "it/s")
    return MeasuredSpeed{text, false, 1.0 / number, 1.0, "s"};
  const std::string word(unit);
  if (names(unit, base.samples.unit) || names_any(unit, {"sample"}) || unit == "img/s")
    return MeasuredSpeed{text, true, number, 1.0, word};
  if (names(unit, base.samples.part) && base.samples.parts > 0.0)
    return MeasuredSpeed{text, true, number / base.samples.parts, base.samples.parts, word};
  return unreadable(text, base);
}

}  // namespace tbdsim
