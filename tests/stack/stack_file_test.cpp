// Mistakes seeded into a stack file: every one reported, in the order of the file, to the letter.
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "model/stack/stack.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

constexpr const char* kMistakes = R"(schema = 2
name = "mxnet-1.2"
framework = "mxnet"
verison = "1.2"
zoo_variant = "mxnet"
source = "assumed: a test"

[convolution]
library = "cudnn-7.0.5"
generation = "cudnn7"
forward = ["implicit_gem", "sideways"]
backward_data = []
workspace_limit = "1 GB/s"
source = "assumed: a test"

[host]
coupling = "parallel"
dispatch = 24
update_dispatch = "-1 us"
start_up = "10 s"
source = "assumed: a test"

[operators]
separate_bias = "yes"
recurrent = "cell"
batch_norm_forward_passes = 0
source = "assumed: a test"

[update]
kind = "fused"
kernels_per_array = 17
passes_sgd_momentum = 5
source = "assumed: a test"

[memory]
plan = "pool"
context = "0.8 GB"

[exchang]
bucket = "64 MiB"
source = "assumed: a test"
)";

constexpr const char* kMessages = R"(FILE:1:10: schema: expected 1, got 2
   1 | schema = 2
     |          ^
FILE:4:1: verison: unknown key, did you mean "version"?
FILE:8:1: convolution.backward_weights: expected at least one algorithm such as ["implicit_gemm"]
   8 | [convolution]
     | ^~~~~~~~~~~~~
FILE:11:11: convolution.forward: unknown convolution algorithm "implicit_gem", did you mean "implicit_gemm"?
  11 | forward = ["implicit_gem", "sideways"]
     |           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
FILE:11:11: convolution.forward: unknown convolution algorithm "sideways"
  11 | forward = ["implicit_gem", "sideways"]
     |           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
FILE:12:17: convolution.backward_data: expected at least one algorithm such as ["implicit_gemm"]
  12 | backward_data = []
     |                 ^~
FILE:13:19: convolution.workspace_limit: expected a size such as "16 GiB", got "1 GB/s" (a bandwidth)
  13 | workspace_limit = "1 GB/s"
     |                   ^~~~~~~~
FILE:17:12: host.coupling: no coupling "parallel", expected one of queued, serialized
  17 | coupling = "parallel"
     |            ^~~~~~~~~~
FILE:18:12: host.dispatch: expected a time such as "1.9 us", got 24 (a bare number; write it as a string with its unit)
  18 | dispatch = 24
     |            ^~
FILE:19:19: host.update_dispatch: expected a time of at least 0, got "-1 us"
  19 | update_dispatch = "-1 us"
     |                   ^~~~~~~
FILE:24:17: operators.separate_bias: expected true or false, got "yes" (a string)
  24 | separate_bias = "yes"
     |                 ^~~~~
FILE:25:13: operators.recurrent: no kind of recurrent layers "cell", did you mean "cells"?
  25 | recurrent = "cell"
     |             ^~~~~~
FILE:26:29: operators.batch_norm_forward_passes: expected a number above 0, got 0
  26 | batch_norm_forward_passes = 0
     |                             ^
FILE:30:8: update.kind: no kind of update "fused", expected one of per_array, multi_tensor
  30 | kind = "fused"
     |        ^~~~~~~
FILE:31:21: update.kernels_per_array: expected a whole number from 1 to 16, got 17
  31 | kernels_per_array = 17
     |                     ^~
FILE:35:1: memory.source: missing key, expected a string
  35 | [memory]
     | ^~~~~~~~
FILE:36:8: memory.plan: no plan of memory "pool", expected one of mxnet, caching_allocator, bfc, blobs
  36 | plan = "pool"
     |        ^~~~~~
FILE:39:2: exchang: unknown key, did you mean "exchange"?
)";

/// Messages of reading `text`, with the path written FILE.
std::string messages(const std::string& text) {
  auto file = TomlFile::parse(text, "FILE");
  if (!file) return to_text(file.error());
  const auto stack = read_stack(std::move(*file));
  return stack ? "" : to_text(stack.error());
}

}  // namespace

TEST_CASE("seeded mistakes in a stack file") { CHECK(messages(kMistakes) == kMessages); }

TEST_CASE("an attention kernel that nobody knows, or that nothing would run, to the letter") {
  const auto with = [](const std::string& line) {
    std::string text = kMistakes;
    const std::string before = "recurrent = \"cell\"\n";
    return messages(text.insert(text.find(before) + before.size(), line));
  };
  CHECK(with("attention_kernel = \"flash2\"\n")
            .find("operators.attention_kernel: unknown attention kernel \"flash2\"; known are general, flash-1, flash-2, ") !=
        std::string::npos);
  CHECK(
      with("attention_kernel = \"flash-2\"\n").find("operators.attention_kernel: has no effect without fused_attention = true") !=
      std::string::npos);
  CHECK(with("fused_attention = true\nattention_kernel = \"flash-2\"\n").find("attention_kernel") == std::string::npos);
}

TEST_CASE("a recipe of 8-bit products that nobody knows, and casts without one, to the letter") {
  const auto with = [](const std::string& line) {
    std::string text = kMistakes;
    const std::string before = "recurrent = \"cell\"\n";
    return messages(text.insert(text.find(before) + before.size(), line));
  };
  CHECK(with("fp8_recipe = \"tensorwice\"\n")
            .find("operators.fp8_recipe: no recipe \"tensorwice\", did you mean \"tensorwise\"?") != std::string::npos);
  CHECK(with("compiles_casts = true\n").find("operators.compiles_casts: has no effect without fp8_recipe") != std::string::npos);
  for (const Fp8RecipeInfo& row : fp8_recipes())
    CHECK(with("compiles_casts = true\nfp8_recipe = \"" + std::string(row.name) + "\"\n").find("fp8_recipe") ==
          std::string::npos);
}

TEST_CASE("a stack file without anything in it names all that is missing") {
  CHECK(messages("schema = 1\n") ==
        "FILE:1:1: name: missing key, expected a string\n"
        "FILE:1:1: framework: missing key, expected a string\n"
        "FILE:1:1: version: missing key, expected a string\n"
        "FILE:1:1: zoo_variant: missing key, expected a string\n"
        "FILE:1:1: source: missing key, expected a string\n"
        "FILE:1:1: convolution: missing key, expected a table\n"
        "FILE:1:1: host: missing key, expected a table\n"
        "FILE:1:1: operators: missing key, expected a table\n"
        "FILE:1:1: update: missing key, expected a table\n"
        "FILE:1:1: memory: missing key, expected a table\n"
        "FILE:1:1: exchange: missing key, expected a table\n");
}

TEST_CASE("the framework of a stack file is one of the table") {
  const std::string text = messages("schema = 1\nframework = \"pytroch\"\n");
  CHECK(text.find("FILE:2:13: framework: no framework \"pytroch\", did you mean \"pytorch\"?\n") != std::string::npos);
  CHECK(messages("schema = 1\nframework = \"pytorch\"\n").find(": framework:") == std::string::npos);
}

TEST_CASE("the vendor of a stack's devices is one of the table, NVIDIA where it is not told") {
  CHECK(
      messages("schema = 1\nvendor = \"nvidia\"\n").find("FILE:2:10: vendor: no vendor \"nvidia\", did you mean \"NVIDIA\"?\n") !=
      std::string::npos);
  for (const VendorInfo& row : vendors()) {
    CHECK(messages(fmt::format("schema = 1\nvendor = \"{}\"\n", row.name)).find(": vendor:") == std::string::npos);
    CHECK(name(row.kind) == row.name);
    CHECK(row.operations_per_lane >= 1.0);
  }
  CHECK(Stack{}.vendor == Vendor::nvidia);
}

TEST_CASE("a stack file that is not there") {
  const auto stack = read_stack("/nonexistent/mine.toml", "/nonexistent");
  REQUIRE_FALSE(stack);
  CHECK(to_text(stack.error()) == "/nonexistent/mine.toml: cannot open: No such file or directory\n");
}

TEST_CASE("bounds of a stack's whole numbers, both sides") {
  std::stringstream model;
  model << std::ifstream(TBDSIM_SOURCE_DIR "/hardware/stacks/caffe2-0.8.toml").rdbuf();
  const auto with_kernels = [&](const std::string& number) {
    std::string text = model.str();
    const std::string key = "kernels_per_array = ";
    const std::size_t at = text.find(key) + key.size();
    text.replace(at, text.find('\n', at) - at, number);
    return messages(text);
  };
  CHECK(with_kernels("1").empty());
  CHECK(with_kernels("16").empty());
  CHECK_FALSE(with_kernels("0").empty());
  CHECK_FALSE(with_kernels("17").empty());
}
