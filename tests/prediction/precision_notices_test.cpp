// What a prediction says of its precision.
#include <algorithm>
#include <string_view>

#include "tests/predicted.hpp"

using namespace tbdsim;

namespace {

/// The notice that begins with `words`; empty without one.
std::string notice_on(const std::string& hardware, const std::string& model, const std::string& precision,
                      const std::string& stack, std::string_view words) {
  PredictOptions options;
  options.hardware = hardware;
  options.model = model;
  options.precision = precision;
  options.stack = stack;
  const Prediction p = predicted(options);
  const auto found =
      std::find_if(p.notices.begin(), p.notices.end(), [&](const std::string& notice) { return notice.starts_with(words); });
  return found == p.notices.end() ? std::string{} : *found;
}

bool tells_of_own_norms(const std::string& model, const std::string& precision, const std::string& stack) {
  return !notice_on("v100-sxm2-16gb", model, precision, stack, "PyTorch calls cuDNN's batch norm with fp32").empty();
}

std::string unmeasured(const std::string& hardware, const std::string& model, const std::string& precision) {
  return notice_on(hardware, model, precision, "pytorch-2.5", "no samples stand behind");
}

}  // namespace

TEST_CASE("batch norms of 16-bit weights are told, where PyTorch runs them itself") {
  CHECK(tells_of_own_norms("resnet50", "fp16", "pytorch-2.1"));
  CHECK_FALSE(tells_of_own_norms("resnet50", "amp", "pytorch-2.1"));
  CHECK_FALSE(tells_of_own_norms("bert-base", "fp16", "pytorch-2.1"));
  CHECK_FALSE(tells_of_own_norms("resnet50", "fp16", "mxnet-1.2"));
}

TEST_CASE("kernels on tensor cores that stand on no sample of the board are named, and no others") {
  CHECK(
      unmeasured("a100-sxm4-80gb", "resnet50", "amp") ==
      "no samples stand behind convolutions on this GPU's tensor cores: rates are those of related kernels, the range is wider");
  CHECK(unmeasured("a100-sxm4-80gb", "bert-base", "bf16").empty());
  CHECK(unmeasured("v100-sxm2-16gb", "resnet50", "amp").empty());
  CHECK(unmeasured("a100-sxm4-80gb", "resnet50", "fp32").empty());
  CHECK(unmeasured("rtx-4090", "llama-3.2-1b", "bf16") ==
        "no samples stand behind matrix products, attention on this GPU's tensor cores: rates are those of related kernels, the "
        "range is wider");
}
