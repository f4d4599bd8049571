#include "model/study/speedup.hpp"

#include <algorithm>
#include <cmath>

#include "model/cost/uncertainty.hpp"

namespace tbdsim {
namespace {

bool same_software(const Prediction& a, const Prediction& b) {
  return a.device == b.device && a.stack == b.stack && a.stack_sha256 == b.stack_sha256 && a.precision == b.precision;
}

bool same_kernels(const Prediction& a, const Prediction& b) {
  return same_software(a, b) && a.model == b.model && a.variant == b.variant && a.workload_sha256 == b.workload_sha256 &&
         a.batch_per_gpu == b.batch_per_gpu && a.set == b.set;
}

double square(double x) { return x * x; }

}  // namespace

Ranged<double> speedup_range(const Prediction& many, const Prediction& one, double value, double part_of_many,
                             double part_of_one) {
  const auto apart = [&](double a, double b) { return square(part_of_many * a) + square(part_of_one * b); };
  const auto alike = [&](double a, double b) { return square(part_of_many * a - part_of_one * b); };
  double variance = apart(many.spread.exchange, one.spread.exchange);
  variance += same_kernels(many, one) ? alike(many.spread.row, one.spread.row) : apart(many.spread.row, one.spread.row);
  variance += same_software(many, one) ? alike(many.spread.board, one.spread.board) : apart(many.spread.board, one.spread.board);
  const double factor = std::exp(kCentral80 * std::sqrt(variance));
  Ranged<double> range{value, value / factor, value * factor};
  if (same_kernels(many, one) && many.gpus > one.gpus)
    range.high = std::max(value, std::min(range.high, static_cast<double>(many.gpus) / one.gpus));
  return range;
}

}  // namespace tbdsim
