#include "calibrate/collect/open_gpu.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "calibrate/cuda/device_timer.hpp"
#include "calibrate/cuda/management_library.hpp"
#include "calibrate/cuda/setup.hpp"

namespace tbdsim::calibrate {
namespace {

using SetUp = Setup (*)(const GpuContext&, const Measurement&);
constexpr std::array<std::pair<std::string_view, SetUp>, 17> kSetUps{{{"gemm", set_up_gemm},
                                                                      {"conv", set_up_convolution},
                                                                      {"rnn", set_up_recurrent},
                                                                      {"attention", set_up_attention},
                                                                      {"softmax", set_up_softmax},
                                                                      {"layer_norm", set_up_layer_norm},
                                                                      {"batch_norm", set_up_batch_norm},
                                                                      {"pool", set_up_pool},
                                                                      {"elementwise", set_up_elementwise},
                                                                      {"dropout", set_up_dropout},
                                                                      {"embedding", set_up_embedding},
                                                                      {"optimizer", set_up_optimizer},
                                                                      {"copy", set_up_copy},
                                                                      {"launch", set_up_launch},
                                                                      {"collective", set_up_collective},
                                                                      {"overlap", set_up_overlap},
                                                                      {"load", set_up_product}}};

/// A setup with the timer that measures it.
class TimedSetup final : public PreparedKernel {
 public:
  /// `observe` reads clocks and load; called while the device works.
  TimedSetup(Setup setup, DeviceTimer& timer, bool cold, std::function<void()> observe)
      : setup_(std::move(setup)), timer_(timer), cold_(cold), observe_(std::move(observe)) {}
  ~TimedSetup() override { cudaDeviceSynchronize(); }
  TimedSetup(const TimedSetup&) = delete;
  TimedSetup& operator=(const TimedSetup&) = delete;

  tl::expected<std::vector<Seconds>, std::string> repeat(int count) override {
    try {
      std::vector<Seconds> times;
      if (!setup_.host_time) {
        for (const DeviceTime& t : timer_.time(count, cold_, setup_.run, observe_)) {
          times.push_back(t.time);
          kernels_.push_back(t.kernels);
        }
        return times;
      }
      timer_.unrecorded([&] {
        for (int i = 0; i < count; ++i) times.push_back(setup_.host_time());
        setup_.run();  // once more, untimed: reading the clock takes the host longer than many a launch
        observe_();
        check(cudaDeviceSynchronize());
      });
      return times;
    } catch (const GpuFailure& failure) {
      (void)cudaGetLastError();
      return tl::make_unexpected(std::string(failure.what()));
    }
  }
  std::string algorithm() const override { return setup_.algorithm; }
  std::string layout() const override { return setup_.layout; }
  std::string flags() const override {
    if (setup_.host_time || !timer_.activity_records()) return setup_.flags;
    const std::string told =
        fmt::format("kernel_sum_s={:.6g} gap_s={:.3g}", summarize(kernels_).median.base(), timer_.gap().base());
    return setup_.flags.empty() ? told : setup_.flags + " " + told;
  }
  bool overwrites_cache() const override { return !setup_.host_time; }
  bool call_timing() const override { return setup_.call_timing || !timer_.activity_records(); }

 private:
  Setup setup_;
  DeviceTimer& timer_;
  bool cold_;
  std::function<void()> observe_;
  std::vector<Seconds> kernels_;  ///< sum of the kernels of each repetition
};

class CudaBench final : public GpuBench {
 public:
  CudaBench(int device, std::vector<std::string>& notes) {
    context_.device = device;
    check(cudaGetDeviceCount(&context_.device_count));
    check(cudaSetDevice(device));
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device));
    context_.capability = 10 * properties.major + properties.minor;
    check(cudaStreamCreateWithFlags(&context_.stream, cudaStreamNonBlocking));
    timer_ = std::make_unique<DeviceTimer>(context_.stream, static_cast<std::size_t>(properties.l2CacheSize));
    if (!timer_->activity_records())
      notes.push_back(fmt::format("no activity records ({}): times come from events and hold launch gaps", timer_->reason()));
    std::array<char, 32> bus{};
    check(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device));
    management_ = std::make_unique<ManagementLibrary>(bus.data());
    open_libraries(notes);
    identity_.name = properties.name;
    identity_.driver = management_->driver();
    identity_.activity_records = timer_->activity_records();
  }
  ~CudaBench() override {
    timer_.reset();
    cudaStreamDestroy(context_.stream);
  }
  CudaBench(const CudaBench&) = delete;
  CudaBench& operator=(const CudaBench&) = delete;

  const GpuIdentity& identity() const override { return identity_; }

  tl::expected<std::unique_ptr<PreparedKernel>, std::string> prepare(const Measurement& m) override {
    const auto* const found =
        std::find_if(kSetUps.begin(), kSetUps.end(), [&](const auto& entry) { return entry.first == m.sample.family; });
    if (found == kSetUps.end()) return tl::make_unexpected(fmt::format("family {} cannot be measured", m.sample.family));
    try {
      need_precision(m.sample.precision);
      Setup setup = found->second(context_, m);
      check(cudaDeviceSynchronize());
      return std::make_unique<TimedSetup>(std::move(setup), *timer_, m.cold, [this] { state_ = management_->state(); });
    } catch (const GpuFailure& failure) {
      (void)cudaGetLastError();
      return tl::make_unexpected(std::string(failure.what()));
    }
  }

  GpuState state() override { return state_; }

  std::string lost() override {
    (void)cudaGetLastError();  // a failure of one call goes with it, one of the device stays
    const cudaError_t status = cudaDeviceSynchronize();
    return status == cudaSuccess ? std::string() : cudaGetErrorString(status);
  }

 private:
  /// Libraries compute some formats on boards that lack them, by other means: not what the sample would say.
  void need_precision(const std::string& precision) const {
    constexpr std::array<std::pair<std::string_view, int>, 4> kNeeds{{{"fp16", 53}, {"tf32", 80}, {"bf16", 80}, {"fp8", 89}}};
    for (const auto& [name, capability] : kNeeds) {
      if (precision == name && context_.capability < capability)
        throw GpuFailure(fmt::format("{} needs compute capability {}.{}", name, capability / 10, capability % 10));
    }
  }

  void open_libraries(std::vector<std::string>& notes) {
    int runtime = 0;
    check(cudaRuntimeGetVersion(&runtime));
    identity_.libraries = fmt::format("cuda {}.{}", runtime / 1000, runtime % 1000 / 10);
    const auto missing = [&](std::string& reason, const std::string& why, std::string_view what) {
      reason = why;
      notes.push_back(fmt::format("{}: {} left out", why, what));
    };
    if (auto blas = CublasLt::load()) {
      context_.cublas = *blas;
      identity_.libraries += fmt::format("; cublaslt {}", blas->cublasLtGetVersion());
    } else {
      missing(context_.cublas_reason, blas.error(), "matrix products");
    }
#if TBDSIM_HAVE_CUDNN
    if (auto dnn = Cudnn::load()) {
      context_.cudnn = *dnn;
      if (dnn->cudnnSetStream(dnn->handle, context_.stream) != CUDNN_STATUS_SUCCESS) throw GpuFailure("cuDNN refuses the stream");
      identity_.libraries += fmt::format("; cudnn {}", dnn->cudnnGetVersion());
    } else {
      missing(context_.cudnn_reason, dnn.error(), "convolutions, recurrent layers, softmax, batch norm, pooling, dropout");
    }
#else
    missing(context_.cudnn_reason, "built without cuDNN",
            "convolutions, recurrent layers, softmax, batch norm, pooling, dropout");
#endif
#if TBDSIM_HAVE_NCCL
    if (context_.device_count < 2) {
      context_.nccl_reason = "collectives need two GPUs";
    } else if (auto nccl = Nccl::load()) {
      context_.nccl = *nccl;
      int version = 0;
      (void)nccl->ncclGetVersion(&version);
      identity_.libraries += fmt::format("; nccl {}", version);
    } else {
      missing(context_.nccl_reason, nccl.error(), "collectives");
    }
#else
    missing(context_.nccl_reason, "built without NCCL", "collectives");
#endif
  }

  GpuContext context_;
  std::unique_ptr<DeviceTimer> timer_;
  std::unique_ptr<ManagementLibrary> management_;
  GpuState state_;
  GpuIdentity identity_;
};

/// The runtime calls a missing driver an insufficient one.
tl::expected<int, std::string> count_gpus() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver)
    return tl::make_unexpected(fmt::format("no usable GPU: no NVIDIA driver, or one older than CUDA {}.{} needs",
                                           CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10));
  if (status != cudaSuccess) return tl::make_unexpected(fmt::format("no usable GPU: {}", cudaGetErrorString(status)));
  return count;
}

}  // namespace

tl::expected<std::unique_ptr<GpuBench>, std::string> open_gpu(int device, std::vector<std::string>& notes) {
  const auto counted = count_gpus();
  if (!counted) return tl::make_unexpected(counted.error());
  const int count = *counted;
  if (device < 0 || device >= count)
    return tl::make_unexpected(fmt::format("no usable GPU: --gpu {}: there are GPUs 0..{}", device, count - 1));
  try {
    return std::make_unique<CudaBench>(device, notes);
  } catch (const GpuFailure& failure) { return tl::make_unexpected(fmt::format("no usable GPU: {}", failure.what())); }
}

tl::expected<std::string, std::string> recorder_library(const std::string& program_folder) {
  if (const auto counted = count_gpus(); !counted) return tl::make_unexpected(counted.error());
  for (const char* place : {"/libtbdsim_recorder.so", "/../lib/tbdsim/libtbdsim_recorder.so"}) {
    std::string path = program_folder + place;
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return tl::make_unexpected(std::string("no usable GPU: libtbdsim_recorder.so is not installed beside this program"));
}

}  // namespace tbdsim::calibrate
