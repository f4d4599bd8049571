#pragma once
#include <functional>

#include <string>
#include <tl/expected.hpp>

#include "calibrate/cuda/libraries.hpp"
#include "calibrate/decode/activity_log.hpp"

namespace tbdsim::calibrate {

// Fields used here stand at the same place in every later struct of the same record; each toolkit names its own.
#if CUPTI_API_VERSION >= 18
using KernelRecord = CUpti_ActivityKernel9;  // CUDA 12 and later
#else
using KernelRecord = CUpti_ActivityKernel5;  // CUDA 11
#endif
using CopyRecord = CUpti_ActivityMemcpy4;
using PeerCopyRecord = CUpti_ActivityMemcpyPtoP;
using FillRecord = CUpti_ActivityMemset3;

/// What is recorded: kernels, copies, copies between devices (a kind of their own), fills.
inline constexpr CUpti_ActivityKind kRecorded[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                                   CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};

static_assert(CUPTI_API_VERSION >= 14, "CUDA 11.1 or later is needed: CUDA 11.0 has no CUpti_ActivityMemcpy4");

/// Starts recording with the first CUPTI that the driver takes: one that is newer than the driver refuses.
/// Error: what the first that was found says; that there is none.
[[nodiscard]] tl::expected<Cupti, std::string> start_recording(CUpti_BuffersCallbackRequestFunc request,
                                                               CUpti_BuffersCallbackCompleteFunc complete);
/// Stops it; calls that are refused are left so.
void stop_recording(const Cupti& cupti);

/// Hands every kernel, copy and fill of a buffer that CUPTI has filled to `take`.
void decode_buffer(const Cupti& cupti, std::uint8_t* buffer, std::size_t size, const std::function<void(const Activity&)>& take);

}  // namespace tbdsim::calibrate
