#include "model/stack/operators/attention_settings.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace tbdsim {

AttentionSettings read_attention_settings(TomlTable& table) {
  AttentionSettings s;
  s.fused = table.boolean_or("fused_attention", s.fused);
  if (!table.has("attention_kernel")) return s;
  const std::string name = table.text("attention_kernel");
  const auto kernel = find_attention_kernel(name);
  if (!kernel) {
    std::vector<std::string> known;
    for (const AttentionKernelInfo& row : attention_kernels()) known.emplace_back(row.name);
    table.problem("attention_kernel", fmt::format("unknown attention kernel \"{}\"; known are {}", name, fmt::join(known, ", ")));
  } else if (!s.fused) {
    table.problem("attention_kernel", "has no effect without fused_attention = true");
  } else {
    s.kernel = *kernel;
  }
  return s;
}

}  // namespace tbdsim
