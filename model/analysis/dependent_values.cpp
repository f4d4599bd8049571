#include "model/analysis/dependent_values.hpp"

namespace tbdsim {

const std::vector<ProportionalValues>& proportional_values() {
  static const std::vector<ProportionalValues> kProportional{
      {"bandwidth", {"achieved", "sm_copy", "staged"}},
      {"memory_capacity", {"memory_reported"}},
      {"boost_clock",
       {"peak_fp32", "peak_fp32_tensor", "peak_tf32_tensor", "peak_fp16_tensor", "peak_bf16_tensor", "peak_fp8_tensor",
        "peak_fp16_vector", "peak_fp64"}}};
  return kProportional;
}

const std::vector<ImpliedValues>& implied_values() {
  // Latency and achieved share of the line rate are those of the catalogue's RoCE networks (hardware/networks).
  static const std::vector<ImpliedValues> kImplied{
      {"rdma", "true", {{"transport", "rdma"}, {"latency", "0.5us"}, {"achieved", "0.976x bandwidth"}}}};
  return kImplied;
}

}  // namespace tbdsim
