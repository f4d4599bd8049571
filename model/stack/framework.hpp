#pragma once
#include <optional>
#include <span>
#include <string_view>

namespace tbdsim {

/// A training framework, as the `framework` of a stack file names it.
enum class Framework { caffe2, jax, mxnet, pytorch, rocm, tensorflow, torch7 };

/// One row of the table of frameworks.
struct FrameworkInfo {
  Framework kind;
  std::string_view name;   ///< in stack files and JSON: "pytorch"
  std::string_view title;  ///< in sentences: "PyTorch"
};

/// Every framework, in the order of their enumerators.
[[nodiscard]] std::span<const FrameworkInfo> frameworks();
[[nodiscard]] const FrameworkInfo& info(Framework framework);
[[nodiscard]] inline std::string_view name(Framework framework) { return info(framework).name; }

/// The framework of a user's word, compared without case and punctuation; nothing: there is none.
[[nodiscard]] std::optional<Framework> parse_framework(std::string_view word);

}  // namespace tbdsim
