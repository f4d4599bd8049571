#pragma once
#include "calibrate/fit/fit_family.hpp"
#include "model/cost/transfer.hpp"
#include "model/hardware/device.hpp"

namespace tbdsim::calibrate {

/// What a single framework call takes from the host where no such sample tells (published single-call floors: 25 to 65 us;
/// the longer a process of PyTorch 2.1 runs convolutions of new shapes, the longer each takes: 50 to 150 ns a shape).
inline constexpr CallTimes kCallTimes{Seconds(30e-6), Seconds(50e-6), Seconds(100e-9)};

/// `resolve_parameters` of a family. Families of issued instructions have none but their own: else the assumed share, beside the
/// bandwidth and launch of memory-bound kernels.
[[nodiscard]] ResolvedParameters parameters_of(const FitFamily& family, const Device& device, std::string_view precision,
                                               const KernelConstants& constants);

/// Time of a sample whose kernel takes `kernel`: the kernel's own, or the call's around it.
[[nodiscard]] Seconds sample_time(const Observation& row, Seconds kernel, const CallTimes& call);

/// What the cost model says of a sample: its kernel, and its time with the host's part where it is a single call.
struct SamplePrediction {
  Seconds kernel, time;
};
[[nodiscard]] SamplePrediction predict_sample(const FitFamily& family, const Observation& row, const FormConstants& form,
                                              const Device& device, const FamilyParameters& parameters);
[[nodiscard]] Seconds predicted_time(const FitFamily& family, const Observation& row, const FormConstants& form,
                                     const Device& device, const FamilyParameters& parameters);

/// Standard deviation of ln(measured / predicted): the scatter of single kernels, what all of a board have in common, and the
/// host's part of a call, which is another host's where `call_borrowed`.
[[nodiscard]] double sample_sigma(const FitFamily& family, const SamplePrediction& prediction, const FamilyParameters& parameters,
                                  bool call_borrowed);

}  // namespace tbdsim::calibrate
