#include "model/prediction/input_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/support/enum_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

struct InputPartRow {
  InputPart kind;
  std::string_view name;  ///< in JSON
};
constexpr std::array<InputPartRow, 4> kParts{{
    {InputPart::storage, "storage"},
    {InputPart::decoding, "decoding"},
    {InputPart::copy, "copy"},
    {InputPart::network, "network"},
}};
static_assert(rows_in_order(kParts));

/// More workers than this are no answer.
constexpr int kMostWorkers = 100'000;

std::string plural(int count, const std::string& noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

/// 0.081x, 0.81x, 12x.
std::string times_text(double ratio) {
  return ratio < 0.1    ? fmt::format("{:.2g}x", ratio)
         : ratio < 9.95 ? fmt::format("{:.2f}x", ratio)
                        : fmt::format("{:.0f}x", ratio);
}

/// Fewest workers with which decoding a step's samples takes no longer than `training`.
std::optional<int> workers_needed(InputPipeline pipeline, std::int64_t samples, Seconds training, std::uint64_t seed) {
  pipeline.cores = 0;
  const Seconds one = static_cast<double>(samples) * (pipeline.wait + pipeline.decode);
  if (one <= Seconds(0.0)) return 1;
  const double least = std::ceil(one / training);
  if (!(least <= kMostWorkers)) return std::nullopt;
  if (pipeline.mode == InputMode::stream) return std::max(1, static_cast<int>(least));
  // At a barrier more threads than samples do not help: the longest sample decides.
  int low = std::max(1, static_cast<int>(least)),
      high = std::max(low, static_cast<int>(std::min<std::int64_t>(samples, kMostWorkers)));
  const auto enough = [&](int threads) {
    pipeline.threads = threads;
    return decode_time(pipeline, samples, seed, kPacedIterations) <= training;
  };
  if (!enough(high)) return std::nullopt;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = enough(middle) ? middle : middle + 1;
  }
  return low;
}

/// What more workers would do; nothing where there are enough.
std::string more_workers(const InputPipeline& pipeline, const InputVerdict& v) {
  const int more = v.needed ? *v.needed - v.workers : 0;
  if (more <= 0) return "";
  std::string text = plural(more, "more worker");
  if (v.loaders > 1) text += fmt::format(", {} for each of the {} processes", (more + v.loaders - 1) / v.loaders, v.loaders);
  if (pipeline.cores > 0 && *v.needed > pipeline.cores)
    text += fmt::format(", and {} more cores for them", *v.needed - pipeline.cores);
  return text;
}

/// Everything that is too slow, not the slowest part alone: mending that would only show the next.
std::string remedy(const InputPipeline& pipeline, const InputVerdict& v) {
  std::vector<std::string> needs;
  if (v.read > v.train) needs.push_back(fmt::format("storage {} as fast", times_text(v.read / v.train)));
  if (v.transfer > v.train) needs.push_back(fmt::format("a network {} as fast", times_text(v.transfer / v.train)));
  if (pipeline.copy_overlaps && v.copy > v.train)
    needs.push_back(fmt::format("copies to the GPUs {} as fast", times_text(v.copy / v.train)));
  if (const std::string more = more_workers(pipeline, v); !more.empty()) needs.push_back(more);
  std::string text = needs.empty() ? "" : fmt::format("needs {}", fmt::join(needs, " and "));
  if (!v.needed)
    text += fmt::format("{}no number of workers suffices{}", text.empty() ? "" : "; ",
                        pipeline.mode == InputMode::barrier ? ": a batch waits for its slowest sample" : "");
  if (!text.empty()) return text;
  return pipeline.cores > 0 && v.workers > pipeline.cores ? "more workers than cores" : "a batch now and then comes late";
}

std::string verdict(const InputPipeline& pipeline, const InputVerdict& v) {
  if (v.ratio <= 0.0) return fmt::format("nothing trains; {} sets the rate of loading", name(v.slowest));
  if (v.ratio < 1.0)
    return fmt::format("loader-bound: {} of what the GPUs could take; {}", times_text(v.ratio), remedy(pipeline, v));
  if (v.overlapped < 0.5 * std::min(v.load, v.train))
    return fmt::format("loads {} what the GPUs take, but too little of it beside training", times_text(v.ratio));
  std::string text = fmt::format("trainer-bound: loads {} what the GPUs take", times_text(v.ratio));
  if (v.needed && *v.needed < v.workers) text += fmt::format("; {} would do", plural(*v.needed, "worker"));
  return text;
}

}  // namespace

std::string_view name(InputPart part) { return kParts[static_cast<std::size_t>(part)].name; }

InputVerdict judge_input(const InputPipeline& pipeline, const InputPace& pace, std::int64_t samples, Seconds training,
                         Seconds step, std::uint64_t seed, bool mock_trainer) {
  InputVerdict v;
  v.workers = pipeline.threads;
  v.loaders = pipeline.loaders;
  v.load = pace.load;
  v.read = static_cast<double>(samples) * pipeline.read;
  const Seconds occupied = decode_time(pipeline, samples, seed, kPacedIterations);  // waits for the storage included
  InputPipeline at_hand = pipeline;
  at_hand.wait = Seconds(0.0);
  v.decode = decode_time(at_hand, samples, seed, kPacedIterations);
  v.copy = pipeline.copy;
  v.transfer = static_cast<double>(samples) * pipeline.transfer;
  const Seconds beside = pipeline.copy_overlaps ? v.copy : Seconds(0.0);
  v.slowest = v.read > std::max({occupied, beside, v.transfer}) ? InputPart::storage
              : v.transfer > std::max(occupied, beside)         ? InputPart::network
              : beside > occupied                               ? InputPart::copy
                                                                : InputPart::decoding;
  if (!mock_trainer) {
    v.train = training;
    v.overlapped = std::max(Seconds(0.0), v.load + training - step);
    v.ratio = v.load > Seconds(0.0) ? training / v.load : 0.0;
    // Storage that is mended keeps no worker waiting.
    v.needed = workers_needed(v.read > v.train ? at_hand : pipeline, samples, training, seed);
  }
  v.text = v.load > Seconds(0.0) ? verdict(pipeline, v) : "samples lie in GPU memory: loading takes no time";
  return v;
}

}  // namespace tbdsim
