#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/input/toml_reader.hpp"
#include "model/stack/attention_kernel.hpp"
#include "model/stack/convolution_library.hpp"
#include "model/stack/engine_settings.hpp"
#include "model/stack/exchange_settings.hpp"
#include "model/stack/framework.hpp"
#include "model/stack/framework_features.hpp"
#include "model/stack/host_settings.hpp"
#include "model/stack/input_settings.hpp"
#include "model/stack/memory_settings.hpp"
#include "model/stack/metric_settings.hpp"
#include "model/stack/operator_settings.hpp"
#include "model/stack/parallel_settings.hpp"
#include "model/stack/parameter_server.hpp"
#include "model/stack/rank_settings.hpp"
#include "model/stack/store.hpp"
#include "model/stack/update_settings.hpp"
#include "model/support/result.hpp"
#include "model/support/vendor.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// What the same hardware does under one framework version. Read from hardware/stacks/*.toml.
struct Stack {
  std::string id;  ///< "mxnet-1.2"
  Framework framework = Framework::pytorch;
  std::string version;
  std::string variant;      ///< "nhwc", "xla"; empty: plain
  std::string zoo_variant;  ///< network variant this framework ships: "mxnet", "torchvision", "tf", "torch7"
  std::string cuda;
  Vendor vendor = Vendor::nvidia;          ///< of the devices it runs on
  std::string minimum_compute_capability;  ///< "3.7"; empty: any
  ConvolutionLibrary convolution;
  FrameworkFeatures features;
  HostSettings host;
  EngineSettings engine;
  OperatorSettings operators;
  UpdateSettings update;
  MemorySettings memory;
  std::string nccl;  ///< "2.1.15"
  ExchangeSettings exchange;
  RankSettings ranks;
  ParallelSettings parallel;
  std::optional<ParameterServer> server;  ///< absent: the framework has none
  StoreSettings store;
  InputSettings input;
  MetricSettings metric;
  std::string source;
  std::vector<std::string> notices;  ///< set on resolution: "no mxnet-1.3 in the catalogue, using mxnet-1.2"
  double extra_spread = 0.0;         ///< added to the range when the name only resolved to this stack
  std::string file, sha256;          ///< the digest also covers what the file extends
};

/// A stack file with all that it takes from the stack that its `extends` names, and that one from its own: a name beside the
/// file, else of the catalogue ("pytorch-2.1", "base/mxnet"). Errors: a file that cannot be read, no such stack, a circle.
[[nodiscard]] Result<TomlFile> open_stack(const std::string& path, const std::string& catalogue_root);

/// Reads a stack. Errors: as of `open_stack`; all problems of the file and of what it took.
[[nodiscard]] Result<Stack> read_stack(const std::string& path, const std::string& catalogue_root);
[[nodiscard]] Result<Stack> read_stack(TomlFile file);

/// Finds a stack by user's words: framework[-ngc]-version[-variant] or a file. A version the catalogue lacks
/// resolves to the nearest of that framework, an unknown variant is dropped, each with a notice and wider range.
[[nodiscard]] Result<Stack> load_stack(const std::string& catalogue_root, const std::string& name);

/// Stacks of the catalogue of the same framework and line (NGC or not) that are no older, newest first; without `id` itself.
[[nodiscard]] std::vector<std::string> later_stacks(const std::string& catalogue_root, const std::string& id);
/// Those of the same framework, line and variant that are older, newest first.
[[nodiscard]] std::vector<std::string> earlier_stacks(const std::string& catalogue_root, const std::string& id);

}  // namespace tbdsim
