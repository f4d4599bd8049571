#include "calibrate/fit/unused.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/sustained.hpp"

namespace tbdsim::calibrate {
namespace {

/// Why samples of a family that the fit knows, too, may have no observation, and why whole families have none.
constexpr std::array<std::pair<std::string_view, std::string_view>, 19> kReasons{{
    {"gemm", "their arithmetic is that of another precision"},
    {"conv", "groups, dilation, one input channel, passes together or a variant that libraries avoid: no form describes them"},
    {"rnn", "input products, several layers, both directions or another pass in one time: no form describes them together"},
    {"attention",
     "unfused attention is made of products and softmax, which are samples of their own; passes are forward and backward, "
     "windows "
     "causal, and `algorithm` names a kernel that is known"},
    {"rms_norm", "`algorithm` names no library whose kernel is known"},
    {"rope", "`algorithm` names no library whose kernel is known"},
    {"gated_activation", "`algorithm` names no library whose kernel is known"},
    {"experts", "passes are forward, and `algorithm` is cutlass"},
    {"softmax", "backward passes take the share of bandwidth of the forward ones"},
    {"layer_norm", "backward passes take the share of bandwidth of the forward ones"},
    {"elementwise", "operands held in the cache (flag hot), or arithmetic that counts (pow)"},
    {"batch_norm", "in 32 bits passes over memory come from the software stack, the share of bandwidth from elementwise kernels"},
    {"pool", "bytes of the definition at the share of bandwidth of elementwise kernels"},
    {"embedding", "bytes of the definition at the share of bandwidth of elementwise kernels"},
    {"copy",
     "pageable memory and copies between GPUs: links belong to a system file (hardware/systems), which states their bandwidth; "
     "check compares nothing with copies, fit takes those of pinned memory"},
    {"launch", "launches as a graph; check compares nothing with launches, fit takes those issued one by one"},
    {"collective",
     "a pace is known of boards behind a switch alone, in one node, with NCCL 2.18 or newer; others take hardware/nccl.toml"},
    {"load", "no flag burst_s: the time of a product at the beginning"},
    {"overlap", "copies beside kernels; check compares nothing with overlap, fit takes all-reduces beside products"},
}};

std::string reason_of(const Sample& sample, const Device* without_rate) {
  if (without_rate != nullptr)
    return fmt::format("{} has no rate of {}; check the device of the samples, or state {} in its description", without_rate->id,
                       arithmetic_class(sample), rate_key(arithmetic_class(sample)));
  if (sample.flagged(kHardwareSlowdown)) return "the hardware held the clock down (heat, power brake): measure them again";
  if (sample.flagged(kStandIn)) return "frameworks have kernels of their own; other boards' samples of those serve";
  const auto* const found =
      std::find_if(kReasons.begin(), kReasons.end(), [&](const auto& entry) { return entry.first == sample.family; });
  return std::string(found == kReasons.end() ? "no parameter is fitted to them" : found->second);
}

/// Rates of the largest copies of each kind.
std::string told_by_copies(const std::vector<const Sample*>& samples) {
  std::string text;
  for (const char* kind : {"h2d-pinned", "d2h-pinned", "h2d-pageable", "d2h-pageable", "p2p"}) {
    const Sample* largest = nullptr;
    for (const Sample* s : samples) {
      if (s->kind == kind && (largest == nullptr || s->at("bytes") > largest->at("bytes"))) largest = s;
    }
    if (largest != nullptr)
      text += fmt::format("{}{} {:.3g} GB/s", text.empty() ? "" : ", ", kind, largest->at("bytes") / largest->time.base() / 1e9);
  }
  return text;
}

/// Time of a kernel in the longest rows of empty ones, issued one by one and as a graph.
std::string told_by_launches(const std::vector<const Sample*>& samples) {
  std::string text;
  for (const double graph : {0.0, 1.0}) {
    const Sample* longest = nullptr;
    for (const Sample* s : samples) {
      if (s->at("graph") == graph && (longest == nullptr || s->at("kernels") > longest->at("kernels"))) longest = s;
    }
    if (longest != nullptr)
      text += fmt::format("{}{:.3g} us a kernel {}", text.empty() ? "" : ", ",
                          longest->time.base() / longest->at("kernels") * 1e6, graph == 0.0 ? "one by one" : "in a graph");
  }
  return text;
}

}  // namespace

std::vector<UnusedSamples> unused_samples(const std::vector<Sample>& samples, const DeviceMap& devices) {
  std::vector<UnusedSamples> all;
  std::vector<std::vector<const Sample*>> members;
  for (const Sample& sample : samples) {
    if (sample.family == kLoadFamily && sustained_rate(sample)) continue;  // acts on the others
    const FitFamily* const family = family_of_samples(sample.family);
    const auto described = devices.find(sample.device);
    const bool lacks = family != nullptr && family->computes && described != devices.end() &&
                       !has_rate(described->second, arithmetic_class(sample));
    if (!lacks && family != nullptr && family->observe(sample)) continue;
    const std::string reason = reason_of(sample, lacks ? &described->second : nullptr);
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const UnusedSamples& u) { return u.family == sample.family && u.reason == reason; });
    const auto at = static_cast<std::size_t>(same - all.begin());
    if (same == all.end()) {
      all.push_back({sample.family, 0, sample.line, reason, {}});
      members.emplace_back();
    }
    all[at].samples += 1;
    members[at].push_back(&sample);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].family == "copy") all[i].told = told_by_copies(members[i]);
    if (all[i].family == "launch") all[i].told = told_by_launches(members[i]);
  }
  return all;
}

std::vector<UnusedSamples> samples_of_others(const std::vector<Sample>& samples, const std::string& device,
                                             const std::vector<std::string>& catalogue) {
  std::vector<UnusedSamples> all;
  for (const Sample& sample : samples) {
    if (sample.device == device) continue;
    auto same = std::find_if(all.begin(), all.end(), [&](const UnusedSamples& u) { return u.family == sample.device; });
    if (same == all.end()) {
      const bool known = std::find(catalogue.begin(), catalogue.end(), sample.device) != catalogue.end();
      all.push_back(
          {sample.device,
           0,
           sample.line,
           fmt::format("another device than {}{}", device,
                       known ? "" : "; the catalogue has none of this name: if it is the same board, let the rows name that"),
           {}});
      same = all.end() - 1;
    }
    same->samples += 1;
  }
  return all;
}

std::string to_text(const UnusedSamples& unused) {
  return fmt::format("{}: {} sample{} (from row {}): {}{}{}", unused.family, unused.samples, unused.samples == 1 ? "" : "s",
                     unused.line, unused.reason, unused.told.empty() ? "" : "; measured: ", unused.told);
}

}  // namespace tbdsim::calibrate
