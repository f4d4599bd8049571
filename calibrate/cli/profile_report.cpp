#include "calibrate/cli/profile_report.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "model/cost/occupancy.hpp"
#include "model/units/format.hpp"

namespace tbdsim::calibrate {
namespace {

std::string share_of(FlopPerSecond rate, const std::optional<FlopPerSecond>& peak, std::string_view units) {
  return peak ? fmt::format("  {:.1f} % of the {} peak\n", 100.0 * (rate / *peak), units) : std::string();
}

/// Kernel names hold commas and, in templates, anything else.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

/// As the program's source calls the kernel, without its return type and the namespaces of this tool and of PyTorch.
std::string readable(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                          &std::free);
  std::string text = status == 0 ? plain.get() : name;
  for (const std::string_view scope : {"(anonymous namespace)::", "tbdsim::calibrate::", "at::native::"}) {
    for (std::size_t at = text.find(scope); at != std::string::npos; at = text.find(scope)) text.erase(at, scope.size());
  }
  return text.rfind("void ", 0) == 0 ? text.substr(5) : text;
}

/// The beginning of a long name, marked as such.
std::string shortened(const std::string& name, std::size_t width) {
  return name.size() <= width ? name : name.substr(0, width - 3) + "...";
}

/// What the iterations that were found do not say by themselves.
std::string caveats(const SteadyIterations& steady) {
  std::string text;
  if (steady.every > 0)
    text += fmt::format(
        "1 iteration in {} has more kernels (by {:.0f}): it logs; or, with gradients\n"
        "  gathered over {} passes, --passes {} makes one iteration of them\n",
        steady.every, steady.more, steady.every, steady.every);
  if (steady.left_out > 0)
    text += fmt::format("{} parts between iterations ran other kernels and are left out\n", steady.left_out);
  return text;
}

}  // namespace

KernelOccupancy occupancy_on(const ProfileSubject& subject) {
  if (!subject.device) return {};
  return [&device = *subject.device](const Activity& a) {
    const auto product = [](const std::array<std::int32_t, 3>& extent) {
      return static_cast<double>(extent[0]) * static_cast<double>(extent[1]) * static_cast<double>(extent[2]);
    };
    return launch_occupancy(
        {product(a.grid), product(a.block), static_cast<double>(a.registers), Bytes(static_cast<double>(a.shared_bytes))},
        device);
  };
}

std::string profile_text(const ActivityLog& log, const SteadyIterations& steady, const ProfileSummary& s,
                         const ProfileSubject& subject) {
  std::string text = fmt::format("{} steady iterations, {} each ({} to {}, deviation {})\n", s.iterations, format(s.step),
                                 format(s.fastest), format(s.slowest), format(s.step_spread));
  if (subject.batch > 0)
    text += fmt::format("{:.4g} samples/s, {:.4g} to {:.4g} over the window\n", subject.batch / s.step.base(),
                        subject.batch / s.slowest.base(), subject.batch / s.fastest.base());
  text += fmt::format("GPU busy {:.1f} %, copying alone {:.1f} %, {:.0f} kernels per iteration\n", 100 * s.busy, 100 * s.copying,
                      s.launches);
  text += fmt::format("tensor-core kernels, by name: {:.1f} % of kernel time\n", 100 * s.tensor_core);
  if (subject.step_flop && s.busy > 0.0) {
    const FlopPerSecond rate = *subject.step_flop / (s.step * s.busy);
    text += fmt::format("arithmetic of the network while busy: {}\n", format(rate));
    text += share_of(rate, subject.device->peak.fp32, "fp32");
    text += share_of(rate, subject.device->peak.fp16_tensor, "fp16 tensor");
    if (rate > std::max(subject.device->peak.fp32, subject.device->peak.fp16_tensor.value_or(FlopPerSecond(0.0))))
      text += "  more than the device can do: --model or --batch is not what ran\n";
  }
  if (subject.device) text += fmt::format("theoretical occupancy, mean by time: {:.0f} %\n", 100 * s.occupancy);
  text += caveats(steady);
  if (log.dropped > 0) text += fmt::format("{} records were dropped: times and shares are too low\n", log.dropped);

  constexpr std::size_t kLongest = 15, kNameWidth = 34;
  text += fmt::format("\n{:>7} {:>9} {:>12} {:>10}  kernel\n", "share", "calls", "mean", "occupancy");
  for (std::size_t i = 0; i < std::min(kLongest, s.kernels.size()); ++i) {
    const KernelShare& k = s.kernels[i];
    const std::string occupancy =
        subject.device ? fmt::format("{} {:.0f} %", k.occupancy < s.occupancy ? "<" : " ", 100 * k.occupancy) : "-";
    text += fmt::format("{:>6.1f}% {:>9.1f} {:>12} {:>10}  {}\n", 100 * k.share, k.calls, format(k.mean), occupancy,
                        shortened(readable(k.name), kNameWidth));
  }
  if (s.kernels.size() > kLongest) text += fmt::format("and {} more\n", s.kernels.size() - kLongest);
  if (subject.device) text += "< below the mean\n";
  return text;
}

std::string_view kernel_table_header() { return "kernel,calls,time_s,mean_s,share,occupancy,tensor_core\n"; }

std::string kernel_table(const ProfileSummary& summary) {
  std::string text(kernel_table_header());
  for (const KernelShare& k : summary.kernels)
    text +=
        fmt::format("{},{:.6g},{:.9g},{:.9g},{:.6g},{},{}\n", quoted(readable(k.name)), k.calls, k.calls * k.mean.base(),
                    k.mean.base(), k.share, k.occupancy > 0.0 ? fmt::format("{:.4f}", k.occupancy) : "", k.tensor_core ? 1 : 0);
  return text;
}

}  // namespace tbdsim::calibrate
