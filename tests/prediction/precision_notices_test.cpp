// What a prediction says of its precision.
#include <algorithm>

#include "tests/predicted.hpp"

using namespace tbdsim;

namespace {

bool tells_of_own_norms(const std::string& model, const std::string& precision, const std::string& stack) {
  PredictOptions options;
  options.hardware = "v100-sxm2-16gb";
  options.model = model;
  options.precision = precision;
  options.stack = stack;
  const Prediction p = predicted(options);
  return std::any_of(p.notices.begin(), p.notices.end(),
                     [](const std::string& notice) { return notice.starts_with("PyTorch calls cuDNN's batch norm with fp32"); });
}

}  // namespace

TEST_CASE("batch norms of 16-bit weights are told, where PyTorch runs them itself") {
  CHECK(tells_of_own_norms("resnet50", "fp16", "pytorch-2.1"));
  CHECK_FALSE(tells_of_own_norms("resnet50", "amp", "pytorch-2.1"));
  CHECK_FALSE(tells_of_own_norms("bert-base", "fp16", "pytorch-2.1"));
  CHECK_FALSE(tells_of_own_norms("resnet50", "fp16", "mxnet-1.2"));
}
