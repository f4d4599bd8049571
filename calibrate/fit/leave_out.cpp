#include "calibrate/fit/leave_out.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <random>
#include <set>

#include "calibrate/fit/board_fit.hpp"

namespace tbdsim::calibrate {
namespace {

/// First word: "Maxwell 2.0" and "Maxwell" are one architecture.
std::string architecture_of(const Device& device) { return device.architecture.substr(0, device.architecture.find(' ')); }

std::vector<Sample> without(const std::vector<Sample>& samples, const std::string& id, const DeviceMap& devices,
                            const std::set<std::string>& families, Holdout holdout) {
  std::vector<Sample> result;
  for (const Sample& sample : samples) {
    if (families.count(sample.family) == 0) continue;
    const bool out = holdout == Holdout::board ? sample.device == id
                                               : architecture_of(devices.at(sample.device)) == architecture_of(devices.at(id));
    if (!out) result.push_back(sample);
  }
  return result;
}

void append(std::vector<AssessedRow>& all, const std::vector<AssessedRow>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// Reasons of refused fits, each with how often it was given.
class Refusals {
 public:
  void add(const std::string& device, const Errors& errors) {
    const std::string text = fmt::format("{}: {}", device, errors.back().message);
    const auto same = std::find_if(all_.begin(), all_.end(), [&](const auto& entry) { return entry.first == text; });
    if (same == all_.end())
      all_.emplace_back(text, 1);
    else
      ++same->second;
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const auto& [text, times] : all_) texts.push_back(times == 1 ? text : fmt::format("{} ({} times)", text, times));
    return texts;
  }

 private:
  std::vector<std::pair<std::string, int>> all_;
};

/// The board's parameters after a fit of `samples`; as it was where they are too few.
DeviceMap fitted_map(const std::vector<Sample>& samples, const Device& device, const KernelConstants& constants,
                     Refusals& refused) {
  const auto fit = fit_board(samples, device, constants, "");
  if (!fit) refused.add(device.id, fit.error());
  return {{device.id, fit ? fit->device : device}};
}

/// Indices of up to `count` random samples of each family and class of arithmetic: what one fit of a board takes together.
std::vector<std::size_t> draw(const std::vector<Sample>& samples, int count, std::mt19937& random) {
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> by_family;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const FitFamily* family = family_of_samples(samples[i].family);
    const auto row = family != nullptr ? family->observe(samples[i]) : std::nullopt;
    if (row) by_family[{samples[i].family, row->precision}].push_back(i);
  }
  std::vector<std::size_t> drawn;
  for (auto& [kind, places] : by_family) {
    // Fisher and Yates by hand: std::shuffle may differ between libraries.
    const std::size_t wanted = std::min(places.size(), static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < wanted; ++i) {
      std::swap(places[i], places[i + random() % (places.size() - i)]);
      drawn.push_back(places[i]);
    }
  }
  return drawn;
}

}  // namespace

Result<LeaveOut> leave_out(const std::vector<std::vector<Sample>>& sets, const std::vector<Sample>& training,
                           const DeviceMap& devices, const KernelConstants& constants, const LeaveOutOptions& options) {
  std::set<std::string> ids, families;
  for (const auto& set : sets) {
    for (const Sample& sample : set) {
      if (family_of_samples(sample.family) == nullptr) continue;
      ids.insert(sample.device);
      families.insert(sample.family);
    }
  }
  if (ids.size() == 1 &&
      std::all_of(training.begin(), training.end(), [&](const Sample& sample) { return sample.device == *ids.begin(); }))
    return fail(fmt::format("all samples are of {}: leaving it out leaves none to fit; name those of other boards with --train",
                            *ids.begin()));
  LeaveOut out;
  Refusals of_fitted, of_left_out, of_drawn;
  std::mt19937 random(options.seed);
  for (const std::string& id : ids) {
    const Device& device = devices.at(id);
    auto others = fit_kernels(without(training, id, devices, families, options.holdout), devices);
    if (!others) of_left_out.add(id, others.error());
    for (std::size_t s = 0; s < sets.size(); ++s) {
      std::vector<const Sample*> own;
      std::vector<Sample> copies;
      for (const Sample& sample : sets[s]) {
        if (sample.device != id || family_of_samples(sample.family) == nullptr) continue;
        own.push_back(&sample);
        copies.push_back(sample);
      }
      const auto score = [&](const DeviceMap& map, const KernelConstants& by, const std::set<std::size_t>& skipped) {
        std::vector<Sample> rest;
        std::vector<const Sample*> origin;
        for (std::size_t i = 0; i < copies.size(); ++i) {
          if (skipped.count(i) != 0) continue;
          rest.push_back(copies[i]);
          origin.push_back(own[i]);
        }
        std::vector<AssessedRow> rows = assess(rest, map, by, s);
        for (AssessedRow& row : rows) row.sample = origin[static_cast<std::size_t>(row.sample - rest.data())];
        return rows;
      };
      append(out.fitted, score(fitted_map(copies, device, constants, of_fitted), constants, {}));
      if (!others) continue;
      append(out.left_out, score({{id, device}}, others->constants, {}));
      for (int i = 0; i < options.draws; ++i) {
        std::vector<Sample> few;
        std::set<std::size_t> used;
        for (const std::size_t place : draw(copies, options.draw_size, random)) {
          few.push_back(copies[place]);
          used.insert(place);
        }
        append(out.drawn, score(fitted_map(few, device, others->constants, of_drawn), others->constants, used));
      }
    }
  }
  out.refused_fitted = of_fitted.texts();
  out.refused_left_out = of_left_out.texts();
  out.refused_drawn = of_drawn.texts();
  return out;
}

}  // namespace tbdsim::calibrate
