// Every stack of the catalogue: read, consistent with its name, with the kernel constants, and sourced.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "model/hardware/cluster.hpp"
#include "model/hardware/kernel_constants.hpp"
#include "model/input/toml_reader.hpp"
#include "model/stack/nccl.hpp"
#include "model/stack/stack.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/architectures.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const std::string kRoot = TBDSIM_SOURCE_DIR;

std::string path_of(const std::string& id) { return fmt::format("{}/hardware/stacks/{}.toml", kRoot, id); }

std::vector<Stack> all_stacks() {
  std::vector<Stack> stacks;
  for (const std::string& id : catalogue_ids({kRoot}, "stacks")) {
    auto stack = read_stack(path_of(id), kRoot);
    INFO((stack ? std::string() : to_text(stack.error())));
    REQUIRE(stack);
    stacks.push_back(std::move(*stack));
  }
  return stacks;
}

bool sourced(const std::string& text) {
  const auto kinds = {"datasheet: ", "paper: ", "measured: ", "fitted: ", "transferred: ", "assumed: "};
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](std::string_view kind) { return text.rfind(kind, 0) == 0 && text.size() > kind.size() + 5; });
}

/// A stack's id as its fields spell it; Torch7 goes by its cuDNN. A training loop on top of a framework goes by its own name.
std::string spelled(const Stack& stack) {
  const std::string version = "-" + stack.version + (stack.variant.empty() ? "" : "-" + stack.variant);
  const bool loop = stack.id.rfind(std::string(name(stack.framework)), 0) != 0;
  if (loop) return stack.id.substr(0, stack.id.find(version)) + version;
  const bool ngc = stack.id.rfind(std::string(name(stack.framework)) + "-ngc-", 0) == 0;
  return std::string(name(stack.framework)) + (ngc ? "-ngc-" : "-") + stack.version +
         (stack.variant.empty() ? "" : "-" + stack.variant);
}

}  // namespace

TEST_CASE("every stack's name, file and fields agree") {
  const std::vector<Stack> stacks = all_stacks();
  REQUIRE(stacks.size() >= 23);
  for (const Stack& stack : stacks) {
    INFO(stack.id);
    CHECK(std::filesystem::path(stack.file).stem().string() == stack.id);
    CHECK(spelled(stack) == stack.id);
    CHECK(stack.sha256.size() == 64);
    CHECK(stack.notices.empty());
    CHECK(stack.extra_spread == 0.0);
  }
}

TEST_CASE("every stack's library generation has constants, for its vendor's arithmetic") {
  const auto constants = read_kernel_constants(kRoot + "/hardware/kernels.toml", all_architectures());
  REQUIRE(constants);
  std::set<std::string> used;
  for (const Stack& stack : all_stacks()) {
    INFO(stack.id);
    const ConvolutionLibrary& library = stack.convolution;
    CHECK(constants->convolution.count(library.generation) == 1);
    used.insert(library.generation);
    for (const auto* offered : {&library.forward, &library.backward_data, &library.backward_weights}) {
      REQUIRE_FALSE(offered->empty());
      CHECK(offered->front() == ConvolutionAlgorithm::implicit_gemm);  // what any shape falls back to
      const std::set<ConvolutionAlgorithm> distinct(offered->begin(), offered->end());
      CHECK(distinct.size() == offered->size());
    }
    // The fused kernel has no weight gradient.
    CHECK(std::count(library.backward_weights.begin(), library.backward_weights.end(), ConvolutionAlgorithm::winograd_fused) ==
          0);
    CHECK(library.name.rfind(stack.vendor == Vendor::amd ? "miopen" : "cudnn", 0) == 0);
  }
  for (const auto& [generation, unused] : constants->convolution) {
    INFO(generation << " is fitted but no stack uses it");
    CHECK(used.count(generation.substr(0, generation.find('-'))) == 1);
  }
}

TEST_CASE("every stack's network variant exists or falls back, and its costs are those of a framework") {
  for (const Stack& stack : all_stacks()) {
    INFO(stack.id);
    CHECK(find_network("resnet50", stack.zoo_variant));
    // A dispatched operator costs the host microseconds, not seconds; a context takes a tenth to some GB.
    CHECK(stack.host.dispatch >= Seconds(0.0));
    CHECK(stack.host.dispatch < Seconds(200e-6));
    CHECK(stack.host.update_dispatch < Seconds(200e-6));
    CHECK(stack.host.start_up < Seconds(600.0));
    CHECK(stack.memory.context > Bytes(0.1e9));
    CHECK(stack.memory.context < Bytes(3e9));
    // SGD with momentum reads weight, gradient and momentum and writes two of them.
    CHECK(stack.update.passes_sgd_momentum >= 5.0);
    CHECK(stack.operators.passes.batch_norm_forward >= 2.0);
    CHECK(stack.operators.passes.batch_norm_backward >= 3.0);
    CHECK((!stack.convolution.workspace_limit || *stack.convolution.workspace_limit >= Bytes(1e6)));
  }
}

TEST_CASE("every table of every stack names the kind of its source") {
  for (const std::string& id : catalogue_ids({kRoot}, "stacks")) {
    auto file = open_stack(path_of(id), kRoot);
    REQUIRE(file);
    TomlTable root = file->root();
    INFO(id);
    CHECK(sourced(root.text("source")));
    for (const auto* name : {"convolution", "host", "operators", "update", "memory", "exchange"}) {
      INFO(name);
      CHECK(sourced(root.table(name).text("source")));
    }
  }
}

TEST_CASE("stacks that exchange through torch's DistributedDataParallel hold its buckets, copies of all gradients") {
  int found = 0;
  for (const std::string& id : catalogue_ids({kRoot}, "stacks")) {
    auto file = open_stack(path_of(id), kRoot);
    REQUIRE(file);
    TomlTable root = file->root();
    if (root.table("exchange").text("source").find("torch DistributedDataParallel") == std::string::npos) continue;
    INFO(id);
    ++found;
    CHECK(read_stack(path_of(id), kRoot)->exchange.copies_all);
  }
  CHECK(found >= 16);
}

TEST_CASE("algorithm names are distinct and spelled as in stack files") {
  using A = ConvolutionAlgorithm;
  CHECK(name(A::implicit_gemm) == "implicit_gemm");
  CHECK(name(A::direct) == "direct");
  CHECK(name(A::winograd_fused) == "winograd_fused");
  CHECK(name(A::winograd_nonfused) == "winograd_nonfused");
  CHECK(name(A::fft) == "fft");
}

TEST_CASE("every source in hardware/ says of which kind it is") {
  int found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot + "/hardware")) {
    if (entry.path().extension() != ".toml") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      const std::size_t key = line.find("source = \"");
      const bool whole = key == 0 || (key != std::string::npos && line.find_first_of(" \"#") >= key);
      if (!whole) continue;
      INFO(entry.path().string() << ": " << line);
      CHECK(sourced(line.substr(line.find('"') + 1)));
      ++found;
    }
  }
  CHECK(found > 1000);
}

TEST_CASE("tables of kernel constants and of the collective library without a source are refused") {
  const auto refused = [](const std::string& name, const auto& read) {
    std::vector<std::string> lines;
    std::ifstream file(kRoot + "/hardware/" + name);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    int tables = 0;
    for (std::size_t without = 0; without < lines.size(); ++without) {
      if (lines[without].rfind("source = ", 0) != 0) continue;
      ++tables;
      std::string text;
      for (std::size_t i = 0; i < lines.size(); ++i) text += i == without ? "\n" : lines[i] + "\n";
      const auto result = read(TomlFile::parse(text, name).value());
      INFO(name << ":" << without + 1);
      REQUIRE_FALSE(result);
      CHECK(result.error().size() == 1);
      CHECK_THAT(result.error().front().message, Catch::Matchers::EndsWith("source: missing key, expected a string"));
    }
    return tables;
  };
  CHECK(refused("nccl.toml", [](TomlFile file) { return read_nccl(std::move(file), "2.12"); }) > 20);
  CHECK(refused("kernels.toml", [](TomlFile file) { return read_kernel_constants(std::move(file), all_architectures()); }) > 20);
}
