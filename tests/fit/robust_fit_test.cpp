// The robust fit against problems whose answer is known.
#include "calibrate/fit/robust_fit.hpp"

#include <omp.h>

#include <cmath>
#include <random>

#include "tests/catch.hpp"

using namespace tbdsim::calibrate;

namespace {

/// time = launch + size / rate, in units that make both about 1.
struct Line {
  std::vector<double> size, measured;
  [[nodiscard]] ResidualFunction residuals() const {
    return [this](std::span<const double> v, std::size_t i) { return std::log(measured[i] / (v[0] + size[i] / v[1])); };
  }
};

constexpr unsigned kSeed = 20180423;

Line noisy(double launch, double rate, std::size_t count, double noise, std::size_t every_outlier) {
  std::mt19937 random(kSeed);
  std::normal_distribution<double> scatter(0.0, noise);
  Line line;
  for (std::size_t i = 0; i < count; ++i) {
    const double size = 0.05 * std::pow(1.08, static_cast<double>(i % 100));
    const bool outlier = every_outlier != 0 && i % every_outlier == 0;
    line.size.push_back(size);
    line.measured.push_back((launch + size / rate) * std::exp(scatter(random)) * (outlier ? 3.0 : 1.0));
  }
  return line;
}

const std::vector<Unknown> kUnknowns{{"launch", 1.0, 1.0}, {"rate", 1.0, 1.0}};

}  // namespace

TEST_CASE("exact data gives the exact answer") {
  const Line line = noisy(0.4, 2.5, 100, 0.0, 0);
  const RobustFit fit = robust_fit(kUnknowns, line.size.size(), line.residuals(), {}, 0.001);
  CHECK_THAT(fit.values[0].value, WithinRel(0.4, 1e-3));
  CHECK_THAT(fit.values[1].value, WithinRel(2.5, 1e-3));
  for (const double residual : fit.residuals) CHECK(std::abs(residual) < 1e-3);
}

TEST_CASE("noise of 10 % and every 16th sample three times too slow: still within 3 %") {
  const Line line = noisy(0.4, 2.5, 400, 0.1, 16);
  INFO("seed " << kSeed);
  const RobustFit fit = robust_fit(kUnknowns, line.size.size(), line.residuals());
  CHECK_THAT(fit.values[0].value, WithinRel(0.4, 0.03));
  CHECK_THAT(fit.values[1].value, WithinRel(2.5, 0.03));
  // A least-squares mean would be carried off by ln 3 / 16 = 7 %; a median moves by less than 1 %.
  const ErrorSummary clean = summarize_residuals(fit.residuals);
  CHECK(clean.median < 0.12);
  CHECK(fit.values[0].sigma > 0.0);
  CHECK(fit.values[1].sigma < 0.1);
}

TEST_CASE("one sample hardly moves a firm prior, a hundred do") {
  const std::vector<Unknown> firm{{"rate", 1.0, 0.05}};
  const auto fitted = [&](std::size_t count) {
    const ResidualFunction three_times_slower = [](std::span<const double> v, std::size_t) { return std::log(3.0 / v[0]); };
    return robust_fit(firm, count, three_times_slower).values[0].value;
  };
  CHECK(fitted(1) > 1.0);
  CHECK(fitted(1) < 1.05);
  CHECK_THAT(fitted(100), WithinRel(3.0, 0.05));
}

TEST_CASE("a sigma of zero holds an unknown fixed, one without influence keeps its prior") {
  const Line line = noisy(0.4, 2.5, 100, 0.0, 0);
  std::vector<Unknown> unknowns = kUnknowns;
  unknowns[0].prior_sigma = 0.0;
  unknowns.push_back({"unused", 7.0, 0.3});
  const RobustFit fit = robust_fit(unknowns, line.size.size(), line.residuals());
  CHECK_THAT(fit.values[0].value, WithinRel(1.0, 1e-6));
  CHECK_THAT(fit.values[2].value, WithinRel(7.0, 1e-9));
  CHECK_THAT(fit.values[2].sigma, WithinRel(0.3, 1e-6));
}

TEST_CASE("the same problem gives the same bits") {
  const Line line = noisy(0.4, 2.5, 200, 0.1, 8);
  const RobustFit a = robust_fit(kUnknowns, line.size.size(), line.residuals()),
                  b = robust_fit(kUnknowns, line.size.size(), line.residuals());
  for (std::size_t i = 0; i < 2; ++i) CHECK(a.values[i].value == b.values[i].value);
  CHECK(a.residuals == b.residuals);
  CHECK(a.iterations == b.iterations);
}

TEST_CASE("errors of residuals: predicted over measured") {
  // ln(measured / predicted) = ln 2: predicted half of it, -50 %; -ln 2: twice, +100 %; 0: right.
  const std::vector<double> residuals{std::log(2.0), -std::log(2.0), 0.0};
  const ErrorSummary s = summarize_residuals(residuals);
  CHECK(s.n == 3);
  CHECK_THAT(s.mean, WithinRel(0.5, 1e-12));
  CHECK_THAT(s.signed_mean, WithinRel(0.5 / 3, 1e-12));
  CHECK_THAT(s.median, WithinRel(0.5, 1e-12));
  CHECK(summarize_residuals({}).n == 0);
}

TEST_CASE("observations that do not depend on an unknown are not evaluated when it moves") {
  // Two boards with a rate each; rows alternate.
  const std::vector<Unknown> unknowns{{"a", 1.0, 1.0}, {"b", 1.0, 1.0}};
  int evaluations = 0;
  const ResidualFunction residual = [&](std::span<const double> v, std::size_t row) {
    ++evaluations;
    return std::log((row % 2 == 0 ? 2.0 : 3.0) / v[row % 2]);
  };
  const RobustFit all = robust_fit(unknowns, 20, residual);
  const int dense = evaluations;
  evaluations = 0;
  const RobustFit own =
      robust_fit(unknowns, 20, residual, [](std::size_t unknown, std::size_t row) { return row % 2 == unknown; });
  CHECK(evaluations < dense);
  for (std::size_t i = 0; i < 2; ++i) CHECK(all.values[i].value == own.values[i].value);
}

TEST_CASE("many unknowns over many observations: the same bits with any number of threads") {
  constexpr std::size_t kColumns = 16, kRows = 20'000;
  std::mt19937 random(kSeed);
  std::vector<double> parts(kColumns * kRows), measured(kRows);
  for (double& part : parts) part = 0.1 + std::generate_canonical<double, 32>(random);
  for (double& time : measured) time = 4.0 + 8.0 * std::generate_canonical<double, 32>(random);
  const ResidualFunction residual = [&](std::span<const double> v, std::size_t i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < kColumns; ++j) sum += v[j] * parts[i * kColumns + j];
    return std::log(measured[i] / sum);
  };
  const auto fitted = [&](int threads) {
    omp_set_num_threads(threads);
    return robust_fit(std::vector<Unknown>(kColumns, {"part", 1.0, 0.3}), kRows, residual);
  };
  const int before = omp_get_max_threads();
  const RobustFit one = fitted(1);
  for (const int threads : {2, 3, 8}) {
    const RobustFit more = fitted(threads);
    for (std::size_t j = 0; j < kColumns; ++j) {
      CHECK(more.values[j].value == one.values[j].value);
      CHECK(more.values[j].sigma == one.values[j].sigma);
    }
  }
  omp_set_num_threads(before);
}
