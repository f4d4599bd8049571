// More sequences never take less time: recurrent layers and products, over boards, libraries and batches.
#include <set>

#include "tests/catch.hpp"
#include "tests/property/step_kernels.hpp"

using namespace tbdsim;
using property::kernels_of;
using property::Work;

namespace {

struct Fall {
  double batch, ratio;  ///< the larger of two neighbours, and its time over that of the smaller
};

/// Every batch from 2 to `most` that takes less time than the one before.
std::vector<Fall> falls(const Device& device, const Stack& stack, Work work, int most) {
  std::vector<Fall> found;
  work.batch = 1;
  Seconds before = kernels_of(device, Precision::fp32, stack, work);
  for (work.batch = 2; work.batch <= most; ++work.batch) {
    const Seconds here = kernels_of(device, Precision::fp32, stack, work);
    if (here < before * (1.0 - 1e-9)) found.push_back({work.batch, here / before});
    before = here;
  }
  return found;
}

Device device(const std::string& id) { return load_device({TBDSIM_SOURCE_DIR}, id).value(); }

}  // namespace

TEST_CASE("the time of recurrent networks and of transformers never falls as the batch grows") {
  const std::vector<Work> works{property::work("deep_speech_2", "mxnet", 1), property::work("deep_speech_2", "pytorch", 1),
                                property::work("lstm_lm", "pytorch", 1), property::work("gpt2", "", 1)};
  for (const char* board : {"m40", "p100-pcie-16gb", "titan-xp", "v100-sxm2-16gb", "t4", "a100-sxm4-40gb", "h100-sxm5-80gb"}) {
    for (const char* library : {"pytorch-0.4", "pytorch-2.1"}) {
      for (const Work& work : works) {
        for (const Fall& fall : falls(device(board), property::stack(library), work, 72)) {
          INFO(board << " " << library << " " << work.name << " batch " << fall.batch);
          // Products of 17 rows have a choice of tiles that those of 16 lack.
          CHECK(fall.ratio > 0.98);
        }
      }
    }
  }
}

TEST_CASE("named exception: cuDNN of CUDA 8 waits longer at 32 sequences than at 64, as measured, nothing falls off a cliff") {
  const Work work = property::work("deep_speech_2", "pytorch", 1);
  const Stack old = property::stack("caffe2-0.8");
  Work at = work;
  const auto seconds = [&](const char* board, double batch) {
    at.batch = batch;
    return kernels_of(device(board), Precision::fp32, old, at).base();
  };
  CHECK(seconds("titan-xp", 17) < 1.2 * seconds("titan-xp", 16));
  CHECK(seconds("titan-xp", 33) > 0.95 * seconds("titan-xp", 32));
  CHECK(seconds("titan-xp", 64) < 1.6 * seconds("titan-xp", 32));
  // No board since Volta runs those kernels.
  for (const char* board : {"v100-sxm2-16gb", "h100-sxm5-80gb"}) CHECK(falls(device(board), old, work, 72).empty());
}
