// A stack by user's words. An invented catalogue of empty-handed versions keeps these rules apart from what the real one holds.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/stack/stack.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

/// A catalogue of copies of one stack file under the names given.
std::string catalogue(const std::string& folder, const std::vector<std::string>& ids) {
  const std::filesystem::path root = std::filesystem::path(TBDSIM_BINARY_DIR) / folder;
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root / "hardware/stacks");
  std::stringstream model;
  model << std::ifstream(TBDSIM_SOURCE_DIR "/hardware/stacks/caffe2-0.8.toml").rdbuf();
  for (const std::string& id : ids) {
    std::string text = model.str();
    text.replace(text.find("name = \"caffe2-0.8\""), 19, "name = \"" + id + "\"");
    std::ofstream(root / "hardware/stacks" / (id + ".toml")) << text;
  }
  return root.string();
}

/// "id", "id (notice; +spread)" or the error.
std::string resolved(const std::string& root, const std::string& name) {
  const auto stack = load_stack(root, name);
  if (!stack) return to_text(stack.error());
  if (stack->notices.empty()) return stack->id + (stack->extra_spread == 0.0 ? "" : " wider without notice");
  return fmt::format("{} ({}{})", stack->id, stack->notices.front(), stack->extra_spread > 0.0 ? "; wider" : "");
}

const std::vector<std::string> kIds{"mxnet-1.2",         "mxnet-1.9",           "mxnet-ngc-18.04", "mxnet-ngc-20.03",
                                    "pytorch-1.12-nhwc", "pytorch-1.13",        "pytorch-1.4",     "pytorch-2.1",
                                    "tensorflow-1.15",   "tensorflow-1.15-xla", "torch7-cudnn4.0", "torch7-cudnn5.1"};

}  // namespace

TEST_CASE("an exact name wins, case, dashes and dots do not matter") {
  const std::string root = catalogue("stacks_exact", kIds);
  CHECK(resolved(root, "mxnet-1.2") == "mxnet-1.2");
  CHECK(resolved(root, "MXNet_1.2") == "mxnet-1.2");
  CHECK(resolved(root, "PyTorch 1.12 NHWC") == "pytorch-1.12-nhwc");
  CHECK(resolved(root, "torch7-cudnn5.1") == "torch7-cudnn5.1");
}

TEST_CASE("mxnet-18.04 is the NGC container of that month, without a notice") {
  const std::string root = catalogue("stacks_alias", kIds);
  CHECK(resolved(root, "mxnet-18.04") == "mxnet-ngc-18.04");
  CHECK(resolved(root, "MXNet-18.04") == "mxnet-ngc-18.04");
  // Another month is only a version of plain MXNet that nobody has.
  CHECK(resolved(root, "mxnet-18.05") == "mxnet-1.9 (no stack mxnet-18.05 in the catalogue, using mxnet-1.9; wider)");
}

TEST_CASE("a version the catalogue lacks resolves to the nearest, with a notice and a wider range") {
  const std::string root = catalogue("stacks_nearest", kIds);
  CHECK(resolved(root, "mxnet-1.3") == "mxnet-1.2 (no stack mxnet-1.3 in the catalogue, using mxnet-1.2; wider)");
  // Half way between 1.2 and 1.9, on both sides.
  CHECK(resolved(root, "mxnet-1.5") == "mxnet-1.2 (no stack mxnet-1.5 in the catalogue, using mxnet-1.2; wider)");
  CHECK(resolved(root, "mxnet-1.6") == "mxnet-1.9 (no stack mxnet-1.6 in the catalogue, using mxnet-1.9; wider)");
  // 1.9 follows 1.4 and comes before 1.13: numbers, not text.
  CHECK(resolved(root, "pytorch-1.9") == "pytorch-1.13 (no stack pytorch-1.9 in the catalogue, using pytorch-1.13; wider)");
  CHECK(resolved(root, "pytorch-2.0") == "pytorch-2.1 (no stack pytorch-2.0 in the catalogue, using pytorch-2.1; wider)");
  CHECK(resolved(root, "torch7-cudnn5.0") ==
        "torch7-cudnn5.1 (no stack torch7-cudnn5.0 in the catalogue, using torch7-cudnn5.1; wider)");
}

TEST_CASE("NGC tags are months, compared among themselves") {
  const std::string root = catalogue("stacks_ngc", kIds);
  // 18.04 to 20.03 are 23 months: 11 after the first, then 11 before the second.
  CHECK(resolved(root, "mxnet-ngc-19.03") ==
        "mxnet-ngc-18.04 (no stack mxnet-ngc-19.03 in the catalogue, using mxnet-ngc-18.04; wider)");
  CHECK(resolved(root, "mxnet-ngc-19.04") ==
        "mxnet-ngc-20.03 (no stack mxnet-ngc-19.04 in the catalogue, using mxnet-ngc-20.03; wider)");
  CHECK(resolved(root, "mxnet-ngc-99.01") ==
        "mxnet-ngc-20.03 (no stack mxnet-ngc-99.01 in the catalogue, using mxnet-ngc-20.03; wider)");
}

TEST_CASE("a variant may stand before the version; code that goes by years lies before all versions") {
  const std::string root = catalogue("stacks_lines", {"megatron-bridge-0.1", "megatron-core-0.12", "megatron-core-0.14",
                                                      "megatron-core-0.8", "megatron-lm-2021", "megatron-lm-2022"});
  const auto of = [&](const char* name) { return resolved(root, name).substr(0, resolved(root, name).find(' ')); };
  CHECK(of("megatron") == "megatron-core-0.14");
  CHECK(of("megatron-core") == "megatron-core-0.14");
  CHECK(of("megatron-core-0.9") == "megatron-core-0.8");
  CHECK(of("megatron-core-0.11") == "megatron-core-0.12");
  CHECK(of("megatron-lm") == "megatron-lm-2022");
  CHECK(of("megatron-lm-2020") == "megatron-lm-2021");
  CHECK(of("megatron-bridge-0.2") == "megatron-bridge-0.1");
}

TEST_CASE("an unknown variant is dropped, a known one is kept, none is added") {
  const std::string root = catalogue("stacks_variant", kIds);
  CHECK(resolved(root, "pytorch-2.1-nhwc") ==
        "pytorch-2.1 (no stack pytorch-2.1-nhwc in the catalogue, using pytorch-2.1; wider)");
  CHECK(resolved(root, "tensorflow-1.15-mkl") ==
        "tensorflow-1.15 (no stack tensorflow-1.15-mkl in the catalogue, using tensorflow-1.15; wider)");
  CHECK(resolved(root, "tensorflow-1.14-xla") ==
        "tensorflow-1.15-xla (no stack tensorflow-1.14-xla in the catalogue, using tensorflow-1.15-xla; wider)");
  CHECK(resolved(root, "tensorflow-1.14") ==
        "tensorflow-1.15 (no stack tensorflow-1.14 in the catalogue, using tensorflow-1.15; wider)");
  const std::string compiled =
      catalogue("stacks_compiled", {"pytorch-2.1", "pytorch-2.1-compile", "pytorch-2.11", "pytorch-2.11-compile"});
  CHECK(resolved(compiled, "pytorch-2.3-compile").starts_with("pytorch-2.1-compile ("));
  CHECK(resolved(compiled, "pytorch-2.9-compile").starts_with("pytorch-2.11-compile ("));
  CHECK(resolved(compiled, "pytorch-2.9").starts_with("pytorch-2.11 ("));
  // Plain 1.12 is rather plain 1.13 than channels-last 1.12.
  CHECK(resolved(root, "pytorch-1.12") == "pytorch-1.13 (no stack pytorch-1.12 in the catalogue, using pytorch-1.13; wider)");
}

TEST_CASE("a framework alone means its newest plain version") {
  const std::string root = catalogue("stacks_newest", kIds);
  CHECK(resolved(root, "pytorch") == "pytorch-2.1 (no stack pytorch in the catalogue, using pytorch-2.1)");
  CHECK(resolved(root, "tensorflow") == "tensorflow-1.15 (no stack tensorflow in the catalogue, using tensorflow-1.15)");
  CHECK(resolved(root, "mxnet-ngc") == "stack \"mxnet-ngc\" names no version, expected such as \"mxnet-ngc-20.03\"\n");
}

TEST_CASE("names that fit nothing, to the letter") {
  const std::string root = catalogue("stacks_unknown", kIds);
  CHECK(resolved(root, "mxent-1.2") == "unknown stack \"mxent-1.2\", did you mean \"mxnet-1.2\"?\n");
  CHECK(resolved(root, "pytroch-0.1") == "unknown stack \"pytroch-0.1\", did you mean \"pytorch\"?\n");
  CHECK(resolved(root, "mxent-ngc-19.06-py3") == "unknown stack \"mxent-ngc-19.06-py3\", did you mean \"mxnet\"?\n");
  CHECK(resolved(root, "caffe2-1.0") ==
        "unknown stack \"caffe2-1.0\"; see `tbdsim list stacks`; frameworks are mxnet, pytorch, tensorflow, torch7\n");
  CHECK(resolved(root, "") ==
        "unknown stack \"\"; see `tbdsim list stacks`; frameworks are mxnet, pytorch, tensorflow, torch7\n");
  CHECK(resolved(root, "torch") ==
        "unknown stack \"torch\", did you mean one of \"torch7\", \"pytorch\"? See `tbdsim list stacks`; frameworks are mxnet, "
        "pytorch, tensorflow, torch7\n");
  CHECK(resolved(root, "torch7-ngc-18.04") == "unknown stack \"torch7-ngc-18.04\"; there are torch7-cudnn4.0, torch7-cudnn5.1\n");
  CHECK(resolved(root, "my_stack.toml") == "no stack file \"my_stack.toml\"\n");
  CHECK(resolved(root, "elsewhere/mxnet-1.9.toml") == "mxnet-1.9");  // the file is gone, the catalogue has its name
  CHECK(resolved("/nonexistent", "mxnet-1.2") == "no stacks under /nonexistent/hardware/stacks\n");
}

TEST_CASE("a user's own file by path") {
  const std::string root = catalogue("stacks_file", {"mxnet-mine"});
  const auto stack = load_stack("/nonexistent", root + "/hardware/stacks/mxnet-mine.toml");
  REQUIRE(stack);
  CHECK(stack->id == "mxnet-mine");
  CHECK(stack->file == root + "/hardware/stacks/mxnet-mine.toml");
}
