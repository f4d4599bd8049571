#include "model/study/speedup.hpp"

#include <algorithm>
#include <cmath>

#include "model/cost/uncertainty.hpp"

namespace tbdsim {
namespace {

bool same_software(const Prediction& a, const Prediction& b) {
  return a.job.device == b.job.device && a.job.stack == b.job.stack && a.files.stack.sha256 == b.files.stack.sha256 &&
         a.job.precision == b.job.precision;
}

bool same_kernels(const Prediction& a, const Prediction& b) {
  return same_software(a, b) && a.job.model == b.job.model && a.job.variant == b.job.variant &&
         a.files.workload.sha256 == b.files.workload.sha256 && a.job.batch_per_gpu == b.job.batch_per_gpu &&
         a.files.set == b.files.set;
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
  if (same_kernels(many, one) && many.job.gpus > one.job.gpus)
    range.high = std::max(value, std::min(range.high, static_cast<double>(many.job.gpus) / one.job.gpus));
  return range;
}

}  // namespace tbdsim
