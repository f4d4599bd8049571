#pragma once
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/hardware/architecture.hpp"
#include "model/hardware/attention_constants.hpp"
#include "model/hardware/kernel_parameters.hpp"
#include "model/hardware/pipelined_constants.hpp"
#include "model/hardware/row_constants.hpp"
#include "model/input/toml_reader.hpp"
#include "model/support/result.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

struct Device;

/// Shape constants of a tiled kernel library, shared by all boards of one precision class.
struct TileConstants {
  double prologue_depth = 16.0;      ///< k-steps worth of time to start and finish one tile
  double tile_penalty = 4.0;         ///< loss of small tiles: 1 + penalty x (tm + tn) / (tm tn)
  double reread = 0.15;              ///< share of A that each further column of tiles fetches again
  double transpose_penalty = 0.0;    ///< loss where B lies transposed, as weights do: its tile is turned on the way in
  double few_rows_bandwidth = 1.0;   ///< share of the bandwidth where C has at most 16 rows or columns: few loads are in flight
  double few_rows_transposed = 1.0;  ///< the same where B lies transposed: its rows are apart
  double few_rows_until = INFINITY;  ///< rows or columns up to which a product waits at least as long as its first 16 do
  double short_tiles = 1.0;          ///< what tiles of fewer than 128 rows cost against a large one of as much work
  double narrow_tiles = 1.0;         ///< the same of tiles of fewer than 128 columns: 2 where there is none worth taking
  double compute_scale = 1.0;        ///< multiplies the compute time (pass and filter class of a convolution)
  int max_split = 32;                ///< largest split of k
  bool largest_tile_only = false;    ///< the library offers only 128 x 128
  /// Of matrix products whose kernels are described by `pipelined_gemm` in the place of tiles of the form above.
  std::optional<PipelinedConstants> pipelined = {};
};

/// Multipliers of the implicit-GEMM compute time for 1x1, larger with stride 1, larger and strided, first layer (at most 4
/// input channels). In backward data every strided filter counts as strided, and the first layer's is a direct kernel.
using FilterClassScales = std::array<double, 4>;

/// Constants of one convolution library generation, shared by all boards.
struct ConvolutionConstants {
  TileConstants tiles;  ///< of the implicit GEMM; compute_scale is set per pass and class
  FilterClassScales forward{1, 1, 1, 1}, backward_data{1, 1, 1, 1}, backward_weights{1, 1, 1, 1};
  double gather_penalty = 10.0;                 ///< of backward weights, beside the tile penalty: both operands lie along k
  double scatter_scale = 1.8;                   ///< compute time of a strided backward-data product that scatters its results
  double scatter_passes = 8.0;                  ///< passes over those results, which are added up in memory
  double winograd_fused_cost = 1.25;            ///< transforms inside the fused kernel, relative to its products
  double winograd_filter_passes = 1.5;          ///< over the filters and their transform, by a kernel before the fused one
  double winograd_gemm_scale = 0.83;            ///< compute time of the transformed products against a plain GEMM
  double transform_bandwidth = 0.67;            ///< share of the sustained bandwidth that transforms reach
  double transform_bandwidth_weights = 0.93;    ///< the same in the weight gradient
  double fft_scale = 1.10;                      ///< complex products against real ones of 4 x the FLOP
  double depthwise_bandwidth = 0.5;             ///< share of the bandwidth that depthwise kernels reach
  std::optional<PipelinedConstants> pipelined;  ///< of the implicit GEMM where kernels load ahead, in the place of the above
  Bytes aligned{0.0};                           ///< channels are padded to a multiple of this: a load of tensor cores
};

/// Constants of one generation of a library's recurrent layers, shared by all boards.
struct RecurrentConstants {
  TileConstants tiles;
  double cycles_batch_16 = 17, cycles_batch_32 = 17, cycles_more = 17;  ///< clock cycles a k-step takes at least, by batch
};

/// Fitted parameters of one board, with what transfer to relatives needs to know of it.
struct BoardParameters {
  std::string device;  ///< catalogue id
  std::string architecture, memory_kind;
  Architecture chip;  ///< what is known of its family
  BoardClass board_class = BoardClass::professional;
  int multiprocessors = 1, fp32_lanes = 64;
  std::string kernels;                             ///< `pipelined_kernels` of the device
  ClockLimits limits;                              ///< under which it was measured
  std::optional<BytesPerSecond> memory_bandwidth;  ///< peak; absent: how loads overlap is lent as it is
  FamilyParameters parameters;
};

/// How far parameters borrowed from relatives lie from those that a board's own samples then give, beyond what clocks,
/// generations and the relatives' disagreement explain: standard deviations of the logarithm, of one family.
struct TransferSigma {
  double compute = 0.12, bandwidth = 0.12;
  int boards = 0;  ///< left out one at a time
};

/// How far steps scatter beyond their kernels, as standard deviations of ln(measured / predicted).
struct SpreadConstants {
  double clock = 0.08;        ///< of arithmetic, between two boards of one kind: clock, cooling, library release
  double row = 0.07;          ///< of a whole step, from one configuration to the next
  double tensor_core = 0.25;  ///< when products run on tensor cores: which of them do, and what casts cost, differs by framework
  double exchange = 0.08;     ///< on several GPUs: overlap with backward costs nothing here, in practice it does
  std::string source;
};

/// Everything that fits share between boards. Read from hardware/kernels.toml, which `tbdsim calibrate fit` writes.
struct KernelConstants {
  std::map<std::string, TileConstants, std::less<>>
      gemm;  ///< by precision class: "fp32", "tensor"; and kernels: "fp32-cudnn8-ampere"
  std::map<std::string, PipelinedConstants, std::less<>> pipelined;  ///< by kernels: "cudnn8-hopper", "fp8-cutlass-ampere"
  std::map<std::string, ConvolutionConstants, std::less<>>
      convolution;  ///< by library generation and class: "cudnn5", "cudnn7-tensor"
  std::map<std::string, RecurrentConstants, std::less<>> recurrent;  ///< by CUDA release and class: "cuda8", "cuda10-tensor"
  std::map<std::string, AttentionConstants, std::less<>> attention;  ///< by kernel: "flash-2"
  std::map<std::string, RowConstants, std::less<>> row_kernels;      ///< by kernel: "rms_norm-vllm"
  std::map<std::string, ExpertConstants, std::less<>> experts;       ///< by kernel: "cutlass", "cutlass-fp8"
  std::map<std::string, CallTimes, std::less<>> calls;               ///< by family, of hosts whose single calls were measured
  std::map<std::string, TransferSigma, std::less<>> transfers;       ///< by family and precision: "gemm-fp32"
  std::vector<BoardParameters> boards;
  SpreadConstants spread;
  std::string source, file, sha256;
};

/// Name of the kernels that multiply matrices: library generation ("cudnn8": the cuBLAS of its day) and the architecture that
/// they are written for, "cudnn8-ampere" (`Architecture::product_kernels`). Where that is not told apart: the generation.
[[nodiscard]] std::string product_kernels(std::string_view generation, const Architecture& chip);

/// Matrix-product constants of the kernels that a library generation has for an architecture. Where those have none of their own:
/// of the nearest architecture, of that the nearest generation (the newer of two); then those of all. Null if there are none.
[[nodiscard]] const TileConstants* gemm_constants(const KernelConstants& constants, bool tensor, std::string_view generation,
                                                  const Architecture& chip);

/// Kernels for tensor cores since Ampere, by the instructions that they are written for: "ampere" (A100, Ada and boards of
/// capability 12: multiplied by a warp), "hopper" (by four warps), "blackwell" (by a multiprocessor or two). Nothing for older
/// boards, those without a tensor rate and other makers'. Source: CUDA's PTX ISA, mma, wgmma and tcgen05 by target.
[[nodiscard]] std::optional<std::string_view> pipelined_kernels(const Device& device);

/// Constants of a library's tensor-core products on a device. Where the kernels have none of their own: those of the nearest
/// architecture, whose loads and epilogue then take as much of the tensor cores' time as there; of 8-bit products those of 16.
/// Nothing where `pipelined_kernels` is, or where the file has none.
[[nodiscard]] std::optional<PipelinedConstants> pipelined_constants(const KernelConstants& constants, std::string_view precision,
                                                                    std::string_view generation, const Device& device);

/// The keys `call_overhead`, `call_floor` and `call_per_shape` of a family; nothing where the first is absent. Without a floor
/// a call lasts no longer than its overhead and kernel.
[[nodiscard]] std::optional<CallTimes> read_call_times(TomlTable& table);

/// Errors: all problems of the file.
[[nodiscard]] Result<KernelConstants> read_kernel_constants(const std::string& path, const Architectures& architectures);
[[nodiscard]] Result<KernelConstants> read_kernel_constants(TomlFile file, const Architectures& architectures);

}  // namespace tbdsim
