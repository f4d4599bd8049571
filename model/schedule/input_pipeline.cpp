#include "model/schedule/input_pipeline.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <utility>

namespace tbdsim {
namespace {

/// Counter-based generator: one 64-bit word for each (stream, index). Source: Steele, Lea & Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014 (SplitMix64).
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}
std::uint64_t word(std::uint64_t stream, std::uint64_t index) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  return mix(mix(stream + kGolden) + (index + 1) * kGolden);
}

double uniform(std::uint64_t w) { return (static_cast<double>(w >> 11U) + 0.5) * 0x1p-53; }

/// Quantile of the standard normal distribution, relative error below 1.2e-9.
/// Source: P. J. Acklam, "An algorithm for computing the inverse normal cumulative distribution function", 2003.
double normal_quantile(double p) {
  constexpr std::array a{-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                         1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr std::array b{-5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                         6.680131188771972e+01,  -1.328068155288572e+01, 1.0};
  constexpr std::array c{-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                         -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr std::array d{7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00, 1.0};
  const auto polynomial = [](const auto& coefficients, double x) {
    double value = 0.0;
    for (const double coefficient : coefficients) value = value * x + coefficient;
    return value;
  };
  constexpr double kTail = 0.02425;
  if (p < kTail) {
    const double q = std::sqrt(-2.0 * std::log(p));
    return polynomial(c, q) / polynomial(d, q);
  }
  if (p > 1.0 - kTail) return -normal_quantile(1.0 - p);
  const double q = p - 0.5;
  return q * polynomial(a, q * q) / polynomial(b, q * q);
}

// Draws per estimate: beyond this, batches are so long against one sample that fewer of them say as much.
constexpr std::int64_t kMostDraws = 200'000;
constexpr int kFewestIterations = 3;
// Samples of a batch that are drawn. Threads share more of them evenly: the wait for the last one does not grow with the batch.
constexpr std::int64_t kMostDrawn = 65'536;

/// When step `k` started and ended and its batch lay ready, and what let both happen.
struct Turn {
  Seconds start, end, ready, load;
  bool waited_for_input = false;  ///< its start did, rather than for the step before
  bool input_waited = false;      ///< its decoding did, for a free place among the batches that lie ready
};

std::vector<Turn> run(const InputPipeline& pipeline, Seconds training, const std::vector<Seconds>& loads) {
  std::vector<Turn> turns(loads.size());
  const auto ahead = static_cast<std::size_t>(pipeline.prefetch);
  for (std::size_t k = 0; k < loads.size(); ++k) {
    Turn& turn = turns[k];
    const Seconds decoder_free = k > 0 ? turns[k - 1].ready : Seconds(0.0);
    const Seconds place_free = k >= ahead ? turns[k - ahead].start : Seconds(0.0);
    turn.input_waited = place_free > decoder_free;
    turn.load = loads[k];
    turn.ready = std::max(decoder_free, place_free) + loads[k];
    const Seconds trainer_free = k > 0 ? turns[k - 1].end : Seconds(0.0);
    turn.waited_for_input = turn.ready > trainer_free;
    turn.start = std::max(turn.ready, trainer_free);
    turn.end = turn.start + training;
  }
  return turns;
}

/// Decoding's part of the way back from the start of the last step to the start of step `first`: what each instant waited
/// for, trainer or decoder.
double decoding_share(const std::vector<Turn>& turns, std::size_t first, Seconds training, int prefetch) {
  Seconds decoding(0.0), trained(0.0);
  bool at_start = true;  // at the start of step k; else at the end of its decoding
  for (std::size_t k = turns.size() - 1; k > first;) {
    if (at_start) {
      at_start = !turns[k].waited_for_input;
      if (!at_start) continue;
      trained += training;
      --k;
      continue;
    }
    decoding += turns[k].load;
    // The decoder went on from the batch before, or when step k - prefetch started and left a place.
    at_start = turns[k].input_waited;
    k -= std::min(k - first, at_start ? static_cast<std::size_t>(prefetch) : 1);
  }
  const Seconds total = decoding + trained;
  return total > Seconds(0.0) ? decoding / total : 0.0;
}

/// Batches over which random decode times are averaged.
int counted_iterations(const InputPipeline& pipeline, std::int64_t samples, int asked) {
  if (pipeline.mode == InputMode::stream || pipeline.spread <= 0.0) return asked;
  return static_cast<int>(std::clamp<std::int64_t>(kMostDraws / samples, kFewestIterations, asked));
}

/// Samples of a batch that threads take in even turns, whose times are not drawn.
std::int64_t even_turns(std::int64_t samples, int threads) {
  const auto turn = std::min<std::int64_t>(threads, kMostDrawn);
  return std::max<std::int64_t>(0, samples - kMostDrawn) / turn * turn;
}

/// Time of the threads for each of `batches` batches: that of the threads, or that of the cores they share.
std::vector<Seconds> decode_lengths(const InputPipeline& pipeline, std::int64_t samples, std::uint64_t seed, int batches) {
  const bool barrier = pipeline.mode == InputMode::barrier, random = barrier && pipeline.spread > 0.0;
  const bool crowded = pipeline.cores > 0 && pipeline.threads > pipeline.cores;
  std::int64_t drawn = samples - even_turns(samples, pipeline.threads);
  if (crowded) drawn = std::max(drawn, samples - even_turns(samples, pipeline.cores));
  const auto size = static_cast<std::size_t>(drawn);
  std::vector<double> times;
  if (barrier) times = random ? decode_times(pipeline.spread, drawn, batches, seed) : std::vector<double>(size, 1.0);
  std::vector<Seconds> lengths;
  lengths.reserve(static_cast<std::size_t>(batches));
  for (std::size_t k = 0; k < static_cast<std::size_t>(batches); ++k) {
    const auto length = [&](int threads) {
      if (!barrier) return static_cast<double>(samples) / threads;
      const std::int64_t even = even_turns(samples, threads);
      const auto rest = static_cast<std::size_t>(samples - even);
      return static_cast<double>(even) / threads + makespan(std::span(times).subspan(random ? k * size : 0, rest), threads);
    };
    lengths.push_back(length(pipeline.threads) * (pipeline.wait + pipeline.decode));
    if (crowded) lengths.back() = std::max(lengths.back(), length(pipeline.cores) * pipeline.decode);
  }
  return lengths;
}

}  // namespace

std::vector<double> decode_times(double spread, std::int64_t samples, int batches, std::uint64_t seed) {
  // exp(mu + sigma z) has mean 1 and standard deviation `spread`.
  const double variance = std::log1p(spread * spread);
  const double sigma = std::sqrt(variance), mu = -0.5 * variance;
  const auto count = static_cast<std::size_t>(batches), slots = static_cast<std::size_t>(samples);
  std::vector<double> times(slots * count);
  std::vector<std::pair<std::uint64_t, std::size_t>> order(count);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const std::uint64_t stream = word(seed, slot);
    for (std::size_t k = 0; k < count; ++k) order[k] = {word(stream, 2 * k), k};
    std::sort(order.begin(), order.end());
    for (std::size_t k = 0; k < count; ++k) {
      const double within = uniform(word(stream, 2 * k + 1));
      const double quantile = (static_cast<double>(order[k].second) + within) / static_cast<double>(count);
      times[k * slots + slot] = std::exp(mu + sigma * normal_quantile(quantile));
    }
  }
  return times;
}

double makespan(std::span<const double> times, int threads) {
  assert(threads >= 1);
  std::vector<double> free(std::min(times.size(), static_cast<std::size_t>(threads)), 0.0);
  double last = 0.0;
  for (const double time : times) {
    std::pop_heap(free.begin(), free.end(), std::greater<>());
    free.back() += time;
    last = std::max(last, free.back());
    std::push_heap(free.begin(), free.end(), std::greater<>());
  }
  return last;
}

Seconds decode_time(const InputPipeline& pipeline, std::int64_t samples, std::uint64_t seed, int iterations) {
  const int counted = counted_iterations(pipeline, samples, iterations);
  Seconds sum(0.0);
  for (const Seconds load : decode_lengths(pipeline, samples, seed, counted)) sum += load;
  return sum / static_cast<double>(counted);
}

InputPace pace(const InputPipeline& pipeline, std::int64_t samples, Seconds training, std::uint64_t seed, int iterations) {
  iterations = counted_iterations(pipeline, samples, iterations);
  // Before the first counted step the prefetched batches fill up.
  const auto warm_up = static_cast<std::size_t>(pipeline.prefetch);
  std::vector<Seconds> loads = decode_lengths(pipeline, samples, seed, static_cast<int>(warm_up) + iterations);
  Seconds other = static_cast<double>(samples) * std::max(pipeline.read, pipeline.transfer);
  if (pipeline.copy_overlaps) other = std::max(other, pipeline.copy);
  Seconds sum(0.0);
  for (std::size_t k = 0; k < loads.size(); ++k) {
    loads[k] = std::max(loads[k], other);
    if (k >= warm_up) sum += loads[k];
  }
  const std::vector<Turn> turns = run(pipeline, training, loads);
  InputPace result;
  result.load = sum / static_cast<double>(iterations);
  result.step = (turns.back().start - turns[warm_up - 1].start) / static_cast<double>(iterations);
  result.share = decoding_share(turns, warm_up - 1, training, pipeline.prefetch);
  return result;
}

}  // namespace tbdsim
