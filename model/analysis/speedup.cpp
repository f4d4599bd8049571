#include "model/analysis/speedup.hpp"

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

Ranged<double> speedup_range(const Prediction& many, const Prediction& one, double value) {
  const bool board = same_software(many, one), row = same_kernels(many, one);
  double variance = 0.0;
  for (const Prediction* p : {&many, &one}) {
    variance += square(p->spread.exchange);
    if (!row) variance += square(p->spread.row);
    if (!board) variance += square(p->spread.board);
  }
  const double factor = std::exp(kCentral80 * std::sqrt(variance));
  Ranged<double> range{value, value / factor, value * factor};
  if (row && many.gpus > one.gpus) range.high = std::max(value, std::min(range.high, static_cast<double>(many.gpus) / one.gpus));
  return range;
}

}  // namespace tbdsim
