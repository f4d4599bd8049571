#include "model/report/network_change_text.hpp"

#include <fmt/format.h>

#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr double kMillion = 1e6, kGiga = 1e9;

std::string moved(const std::string& what, const std::string& before, const std::string& after, double ratio) {
  return fmt::format("{} {} to {} ({:+.1f} %)", what, before, after, 100.0 * (ratio - 1.0));
}

}  // namespace

std::string network_change_text(const NetworkChange& change) {
  const NetworkFigures &a = change.before, &b = change.after;
  const auto millions = [](std::int64_t n) { return number_text(static_cast<double>(n) / kMillion) + " M"; };
  const auto macs = [](double n) { return number_text(n / kGiga) + " G"; };
  const std::string parts[] = {
      moved("parameters", millions(a.parameters), millions(b.parameters),
            static_cast<double>(b.parameters) / static_cast<double>(a.parameters)),
      moved("forward multiply-adds", macs(a.forward_macs), macs(b.forward_macs), b.forward_macs / a.forward_macs),
      moved("step", format(a.step), format(b.step), b.step / a.step),
      moved("throughput", number_text(a.throughput), number_text(b.throughput), b.throughput / a.throughput),
      moved("memory", format(a.peak), format(b.peak), b.peak / a.peak)};
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace tbdsim
