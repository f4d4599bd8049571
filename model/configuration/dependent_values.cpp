#include "model/configuration/dependent_values.hpp"

#include <fmt/format.h>

#include "model/hardware/usual_network.hpp"

namespace tbdsim {

const std::vector<ProportionalValues>& proportional_values() {
  static const std::vector<ProportionalValues> kProportional{
      {"bandwidth", {"achieved", "sm_copy", "staged", "tcp"}},
      {"memory_capacity", {"memory_reported"}},
      {"boost_clock",
       {"peak_fp32", "peak_fp32_tensor", "peak_tf32_tensor", "peak_fp16_tensor", "peak_bf16_tensor", "peak_fp8_tensor",
        "peak_fp16_vector", "peak_fp64"}}};
  return kProportional;
}

const std::vector<ImpliedValues>& implied_values() {
  static const std::vector<ImpliedValues> kImplied{{"rdma",
                                                    "true",
                                                    "sockets",
                                                    {{"tcp", "achieved"}, {"tcp_latency", "latency"}},
                                                    {{"transport", "rdma"},
                                                     {"latency", fmt::format("{:g}us", kUsualRdma.latency.base() * 1e6)},
                                                     {"achieved", fmt::format("{:g}x bandwidth", kUsualRdma.share)}}}};
  return kImplied;
}

}  // namespace tbdsim
