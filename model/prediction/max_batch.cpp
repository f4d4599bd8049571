#include "model/prediction/max_batch.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "model/cost/uncertainty.hpp"
#include "model/prediction/longest_sequence.hpp"

namespace tbdsim {
namespace {

// More samples than any device could hold of the smallest network.
constexpr int kLargestBatch = 1 << 24;
// A second point of the line, where workspaces and rounding weigh less than in the first.
constexpr int kSecondBatch = 16;
// Batches tried above the first that does not fit.
constexpr int kHigherBatches = 24;
// Batches tried below the largest found, over so much of it: further down the device's end is out of reach.
constexpr int kLowerBatches = 12;
constexpr double kLowerShare = 0.2;

/// What a batch needs.
struct Peak {
  Bytes shown, needed;
  Bytes floor;        ///< without what follows from the choice of kernels: workspace and slack
  double spread = 0;  ///< standard deviation of ln needed
  double probability = 0;
  bool host = true;  ///< whether the host holds what lies there
};

Peak peak_of(const StepMemory& memory, const Stack& stack, Bytes capacity) {
  const RankMemory& rank = fullest(memory);
  Bytes needed;
  for (const RankMemory& each : memory.ranks) needed = std::max(needed, each.needed);
  const Bytes floor = rank.peak - rank.parts[MemoryPart::workspace] - rank.parts[MemoryPart::slack];
  const bool host = std::all_of(memory.ranks.begin(), memory.ranks.end(), fits_host);
  return {rank.peak, needed, floor, need_spread(rank, stack), host ? probability_of_fitting(rank, stack, capacity) : 0.0, host};
}

/// Bytes above the capacity, `deviations` above what is predicted; where the host is too small, as much as the device has.
double excess_of(const Peak& peak, double deviations, Bytes capacity) {
  if (!peak.host) return capacity.base();
  return (peak.needed * std::exp(deviations * peak.spread) - capacity).base();
}

/// Peaks of the batches replayed so far.
class Search {
 public:
  explicit Search(MemoryEstimator& estimator)
      : estimator_(estimator), capacity_(usable_capacity(estimator.configuration().hardware().device)) {}

  const Peak& at(int batch) {
    const auto [found, fresh] = peaks_.try_emplace(batch);
    if (!fresh) return found->second;
    return found->second = peak_of(estimator_.at(batch), estimator_.configuration().stack, capacity_);
  }

  [[nodiscard]] std::size_t known() const { return peaks_.size(); }

  /// The largest batch whose least device, `deviations` above what is predicted, is within the capacity, and whose successor's
  /// is not; below any known misfit.
  int largest(double deviations) {
    int good = 0, bad = kLargestBatch + 1, repeats = 0;
    for (const auto& [batch, peak] : peaks_) {
      if (batch < bad && excess(batch, deviations) > 0.0) bad = batch;
      if (batch < bad) good = batch;
    }
    bool last_fitted = false;
    while (bad - good > 1) {
      // Several misses on one side: the line leads astray, so the next step is twice as long.
      const int reach = (1 << std::min(repeats, 24)) - 1;
      const int guess = next(good, bad, deviations) + (last_fitted ? reach : -reach);
      const int probe = std::clamp(guess, good + 1, bad - 1);
      const bool fits = excess(probe, deviations) <= 0.0;
      repeats = fits == last_fitted ? repeats + 1 : 0;
      last_fitted = fits;
      (fits ? good : bad) = probe;
    }
    return good;
  }

  /// The largest batch at or below `fitting` of which no smaller one is known not to fit, once some below it have been tried.
  int unbroken(int fitting) {
    for (int end = fitting;;) {
      const int reach = static_cast<int>(kLowerShare * end), step = std::max(1, reach / kLowerBatches);
      int misfit = 0;
      for (int batch = end - 1; batch > 0 && batch >= end - reach; batch -= step)
        if (excess(batch, 0.0) > 0.0) misfit = batch;
      if (misfit == 0) return end;
      while (misfit > 0 && excess(misfit, 0.0) > 0.0) --misfit;
      end = misfit;
    }
  }

  /// A batch that fits although `misfit`, a smaller one, does not: kernels of other algorithms may need smaller workspaces.
  /// Tries some batches up to where arrays alone fill the device, the largest first.
  std::optional<int> fitting_beyond(int misfit) {
    const int half = misfit / 2;
    if (half == 0) return std::nullopt;
    const Bytes slope = (at(misfit).floor - at(half).floor) / (misfit - half), room = capacity_ - at(misfit).floor;
    if (!(slope > Bytes(0.0)) || !(room > slope)) return std::nullopt;
    const double more = room / slope;
    const int end = misfit + static_cast<int>(std::min(more, static_cast<double>(kLargestBatch - misfit))) + 1;
    for (int i = kHigherBatches; i > 0; --i) {
      const int batch = misfit + (end - misfit) * i / (kHigherBatches + 1);
      if (batch <= misfit || excess(batch, 0.0) > 0.0) continue;
      return batch;
    }
    return std::nullopt;
  }

 private:
  double excess(int batch, double deviations) { return excess_of(at(batch), deviations, capacity_); }

  /// Where the line through two batches meets the capacity.
  int next(int good, int bad, double deviations) {
    if (good == 0) return bad > kLargestBatch ? 1 : bad / 2;
    int other = bad;
    if (bad > kLargestBatch) {
      if (good == 1) return kSecondBatch;
      other = std::prev(peaks_.find(good))->first;
    }
    const double here = excess(good, deviations), slope = (excess(other, deviations) - here) / (other - good);
    const double met = good - here / slope;
    return slope > 0.0 && met < kLargestBatch ? static_cast<int>(met) : std::min(kLargestBatch, 2 * good);
  }

  MemoryEstimator& estimator_;
  Bytes capacity_;
  std::map<int, Peak> peaks_;
};

/// Of the sizes that divide what an update has for each copy of the network, the smallest first.
Result<LargestBatch> largest_divisor(Session& session, const PredictOptions& options, int of_a_copy) {
  LargestBatch result;
  bool safe = true;
  for (int size = 1; size <= of_a_copy; ++size) {
    if (of_a_copy % size != 0) continue;
    PredictOptions job = options;
    job.batch = size;
    auto configured = configure_for_memory(session, job);
    if (!configured) continue;  // too few micro-batches for its schedule, or more than are modelled
    const Bytes capacity = usable_capacity(configured->hardware().device);
    auto estimator = MemoryEstimator::make(std::move(*configured));
    if (!estimator) return tl::make_unexpected(estimator.error());
    const Peak peak = peak_of(estimator->at(size), estimator->configuration().stack, capacity);
    const bool fits = excess_of(peak, 0.0, capacity) <= 0.0;
    if (fits && result.next == 0) {
      result.batch = size;
      result.micro_batches = of_a_copy / size;
      result.peak = peak.shown;
      result.probability = peak.probability;
    } else if (fits) {
      result.larger = OtherBatch{size, peak.shown};
    } else if (result.next == 0) {
      result.next = size;
      result.next_peak = peak.shown;
    }
    safe = safe && excess_of(peak, kCentral80, capacity) <= 0.0;
    if (safe) result.safe_batch = result.low = size;
    if (excess_of(peak, -kCentral80, capacity) > 0.0) break;
    result.high = size;
  }
  return result;
}

}  // namespace

LargestBatch find_largest_batch(MemoryEstimator& estimator) {
  Search search(estimator);
  LargestBatch result;
  // A search for one may find a misfit below another's answer: all three are to know the same batches.
  std::size_t known = 0;
  int found = 0;
  do {
    known = search.known();
    found = std::max(found, search.largest(0.0));
    result.batch = search.unbroken(search.largest(0.0));
    result.low = search.largest(kCentral80);
    result.high = search.largest(-kCentral80);
  } while (known != search.known());
  if (result.batch > 0) {
    result.peak = search.at(result.batch).shown;
    result.probability = search.at(result.batch).probability;
  }
  result.next = result.batch + 1;
  result.next_peak = search.at(result.next).shown;
  result.micro_batches = estimator.configuration().accumulate;
  result.high = std::max(result.high, result.batch);
  // The upper end of a central 80 % is passed with a probability of 10 %.
  result.safe_batch = std::min(result.low, result.batch);
  const std::optional<int> beyond = search.fitting_beyond(std::max(found, result.batch) + 1);
  const int larger = std::max(found, beyond.value_or(0));
  if (larger > result.batch) result.larger = OtherBatch{larger, search.at(larger).shown};
  return result;
}

Result<LargestBatch> largest_batch(Session& session, const PredictOptions& options) {
  auto configured = configure_for_memory(session, options);
  if (!configured) return tl::make_unexpected(configured.error());
  if (options.global_batch) return largest_divisor(session, options, *options.global_batch / configured->data_parallel());
  auto estimator = MemoryEstimator::make(std::move(*configured));
  if (!estimator) return tl::make_unexpected(estimator.error());
  return find_largest_batch(*estimator);
}

}  // namespace tbdsim
