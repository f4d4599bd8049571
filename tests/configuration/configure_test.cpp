// Options become a configuration: defaults filled in, precedence, optimisers.
#include "model/configuration/configure.hpp"

#include "model/configuration/choose_attention.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

Configuration configured(const PredictOptions& options) {
  static const std::shared_ptr<Session> kSession = open_session({TBDSIM_SOURCE_DIR});
  const auto configuration = configure(*kSession, options);
  INFO((configuration ? std::string() : to_text(configuration.error())));
  REQUIRE(configuration);
  return *configuration;
}

PredictOptions options(const char* hardware = "dgx1", const char* model = "resnet50") {
  PredictOptions o;
  o.hardware = hardware;
  o.model = model;
  return o;
}

}  // namespace

TEST_CASE("defaults: every GPU of one node, the network's batch, fp32, SGD with momentum, torchvision's definition") {
  const Configuration c = configured(options());
  CHECK(c.gpus == 8);
  CHECK(c.nodes == 1);
  CHECK(c.devices == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(c.batch == c.network_graph().graph.default_batch);
  CHECK(c.precision == Precision::fp32);
  CHECK(c.optimizer.name == "sgd-momentum");
  CHECK(c.exchange == Exchange::allreduce);
  CHECK(c.input == "synthetic");
  CHECK(c.network_graph().graph.variant == "torchvision");
  CHECK(c.stack.framework == Framework::pytorch);
  REQUIRE(c.network);
  CHECK(c.network->id == c.hardware().network->id);
  CHECK(c.notices.empty());
}

TEST_CASE("a bare network name means the variant of the named stack, a variant given wins") {
  PredictOptions o = options();
  o.stack = "mxnet-1.2";
  CHECK(configured(o).network_graph().graph.variant == "mxnet");
  o.model = "resnet50@torchvision";
  CHECK(configured(o).network_graph().graph.variant == "torchvision");
  o.stack = "tensorflow-1.12";
  o.model = "resnet50";
  CHECK(configured(o).network_graph().graph.variant == "tf");
}

TEST_CASE("names are folded: case, dashes, underscores, dots") {
  PredictOptions o = options("DGX-1", "ResNet_50");
  o.optimizer = "SGD_Momentum";
  o.exchange = "All-Reduce";
  o.stack = "MXNet-1.2";
  const Configuration c = configured(o);
  CHECK(c.hardware().id == "dgx1");
  CHECK(c.optimizer.name == "sgd-momentum");
  CHECK(c.exchange == Exchange::allreduce);
  CHECK(c.stack.id == "mxnet-1.2");
}

TEST_CASE("a device name is so many of them in a plain host, default one") {
  CHECK(configured(options("p100-pcie-16gb")).gpus == 1);
  PredictOptions o = options("p100-pcie-16gb");
  o.gpus = 4;
  const Configuration c = configured(o);
  CHECK(c.gpus == 4);
  CHECK(c.nodes == 1);
  CHECK(c.hardware().device.id == "p100-pcie-16gb");
}

TEST_CASE("boards without slots are wired as in the system that they are mounted in, others told to be on PCIe") {
  const auto tells = [](const Configuration& c, std::string_view text) {
    return std::any_of(c.notices.begin(), c.notices.end(),
                       [&](const std::string& n) { return n.find(text) != std::string::npos; });
  };
  PredictOptions o = options("h100-sxm5-80gb", "resnet50");
  o.gpus = 4;
  const Configuration mounted = configured(o);
  CHECK(mounted.hardware().id == "dgx-h100");
  CHECK(mounted.gpus == 4);
  CHECK(tells(mounted, "4 of them are taken to be wired as in dgx-h100"));
  o.gpus = 1;
  CHECK(configured(o).hardware().id == "h100-sxm5-80gb");
  o = options("rtx-3090", "resnet50");
  o.gpus = 2;
  CHECK(tells(configured(o),
              "2 x rtx-3090 are put on PCIe alone, without links of their own, all below one CPU, where they copy to each other "
              "through host memory; a system file can state another wiring"));
  o.gpus = 1;
  CHECK_FALSE(tells(configured(o), "on PCIe alone"));
  // The catalogue's machine with the same boards has them on two CPUs.
  o = options("a100-pcie-40gb", "resnet50");
  o.gpus = 4;
  CHECK(tells(configured(o),
              "4 x a100-pcie-40gb are put on PCIe alone, without links of their own, all below one CPU, where they "
              "copy to each other directly; the catalogue's pcie-4x-a100 has such boards in its own wiring"));
  o = options("rtx-4090", "resnet50");
  o.gpus = 2;
  CHECK(tells(configured(o),
              "2 x rtx-4090 are put on PCIe, all below one CPU, where they copy to each other through host memory; "
              "the catalogue's pcie-4x-rtx-4090 has such boards in its own wiring"));
  o.gpus = 1;
  CHECK_FALSE(tells(configured(o), "the catalogue's"));
  o = options("p4000", "resnet50");
  o.gpus = 2;
  CHECK_FALSE(tells(configured(o), "on PCIe"));
}

TEST_CASE("a stack older than the board: what its libraries are taken to do, to the letter") {
  const auto notice = [](const char* board, const char* stack) {
    PredictOptions o = options(board);
    o.stack = stack;
    for (const std::string& n : configured(o).notices)
      if (n.find("is older than") != std::string::npos) return n;
    return std::string();
  };
  CHECK(
      notice("b300-sxm-288gb", "pytorch-2.1") ==
      "stack pytorch-2.1 (CUDA 12.1) is older than b300-sxm-288gb: products on tensor cores are taken at 0.8 of their rate, the "
      "range is wider; a build that knows the device: --set stack.cuda=12.9");
  // Ada runs Ampere's kernels.
  CHECK(notice("rtx-4090", "pytorch-1.13") ==
        "stack pytorch-1.13 (CUDA 11.7) is older than rtx-4090: taken as if it knew the device, the range is wider");
  CHECK(notice("b300-sxm-288gb", "pytorch-2.11").empty());
}

TEST_CASE("another network's ports are told where they are fewer") {
  PredictOptions o = options();
  o.nodes = 2;
  o.network = "ethernet-25g";
  const Configuration c = configured(o);
  CHECK(std::count(c.notices.begin(), c.notices.end(),
                   "ethernet-25g: 1 port of a node, whose own network, infiniband-edr, has 4") == 1);
}

TEST_CASE("devices apply to each node") {
  PredictOptions o = options();
  o.devices = {0, 4};
  o.nodes = 3;
  CHECK(configured(o).gpus == 6);
  o.gpus = 6;
  CHECK(configured(o).gpus == 6);
}

TEST_CASE("a named network replaces the system's own") {
  PredictOptions o = options();
  o.nodes = 2;
  o.network = "ethernet-10g";
  CHECK(configured(o).network->id == "ethernet-10g");
}

TEST_CASE("an optimiser that a script writes as a loop stays one under fused stacks, unless the stack fuses loops") {
  PredictOptions o = options("v100-sxm2-16gb", "bert-base-squad");
  o.stack = "pytorch-ngc-20.06-apex";
  o.optimizer = "bert-adam";
  const Configuration c = configured(o);
  CHECK(c.stack.update.kind == UpdateKind::per_array);
  CHECK(c.stack.update.kernels_per_array == 14);
  CHECK_THAT(c.stack.update.passes_sgd_momentum, WithinRel(34.0, 1e-12));
  CHECK(c.stack.update.wait == UpdateWait::each_array);
  o.set = {"stack.update.fuses_loops=true"};
  const Configuration fused = configured(o);
  CHECK(fused.stack.update.kind == UpdateKind::multi_tensor);
  CHECK(fused.stack.update.wait == UpdateWait::never);
  CHECK(fused.stack.update.passes_sgd_momentum == 8.0);
  // Mixed precision checks for an overflow once, whatever the optimiser.
  o.set.clear();
  o.optimizer = "adam";
  o.precision = "amp";
  CHECK(configured(o).stack.update.wait == UpdateWait::once);
}

TEST_CASE("optimisers: states they keep, and passes against SGD with momentum") {
  struct Expected {
    const char* name;
    double states, passes, separate;
  };
  PredictOptions o = options();
  // In one kernel, plain SGD reads weight and gradient and writes the weight; momentum is read and written too; Adam has a second
  // one. Formulas of several kernels, over one array or lists of them, read and write between their terms.
  for (const Expected& e : {Expected{"sgd", 0, 3, 3},
                            {"sgd-momentum", 1, 5, 11},
                            {"adam", 2, 7, 20},
                            {"adam-8bit", 0.5, 5, 5},
                            {"lamb", 2, 10, 32},
                            {"lamb-compiled", 2, 10, 12},
                            {"lars", 1, 7, 16},
                            {"novograd", 1, 6, 14}}) {
    INFO(e.name);
    o.optimizer = e.name;
    for (const char* stack : {"pytorch-1.13", "pytorch-2.1", "pytorch-ngc-22.06-apex"}) {
      o.stack = stack;
      const Configuration c = configured(o);
      CHECK(c.optimizer.states == e.states);
      const bool fused = c.stack.update.kernels_per_array == 1;
      CHECK(fused == (o.stack == "pytorch-ngc-22.06-apex" || e.name == std::string("sgd") || e.name == std::string("adam-8bit")));
      // Over lists of arrays Adam's formula is two passes shorter.
      const double separate = e.name == std::string("adam") && o.stack == "pytorch-2.1" ? 18 : e.separate;
      CHECK_THAT(c.stack.update.passes_sgd_momentum, WithinRel(o.stack == "pytorch-ngc-22.06-apex" ? e.passes : separate, 1e-12));
    }
  }
}

TEST_CASE("BertAdam is a script's own loop over the arrays, whatever the framework's optimisers fuse") {
  PredictOptions o = options();
  o.optimizer = "bert-adam";
  for (const char* stack : {"pytorch-1.4", "pytorch-2.1", "pytorch-ngc-22.06"}) {
    o.stack = stack;
    const Stack chosen = configured(o).stack;
    CHECK(chosen.update.kind == UpdateKind::per_array);
    CHECK_THAT(chosen.update.passes_sgd_momentum, WithinRel(34.0, 1e-12));
    CHECK(chosen.update.kernels_per_array == 14);
  }
}

TEST_CASE("batch and image as given") {
  PredictOptions o = options();
  o.batch = 7;
  o.image = 160;
  const Configuration c = configured(o);
  CHECK(c.batch == 7);
  CHECK(c.network_graph().graph.tensors.front().shape == Shape{3, 160, 160});
}

TEST_CASE("an optimiser moves its own bytes in a step that is simulated layer by layer") {
  // Megatron's fused Adam moves 30 B of a parameter in 7 passes; SGD makes 3 of them, LAMB 10, none moves and clips nothing.
  const auto with = [](const char* optimizer) {
    PredictOptions o = options("dgx-a100-80gb", "gpt3-350m");
    o.stack = "megatron-core-0.8";
    o.precision = "bf16";
    o.optimizer = optimizer;
    return configured(o).stack.parallel;
  };
  CHECK(with("adam").update.moves == Bytes(30.0));
  CHECK_THAT(with("sgd").update.moves.base(), WithinRel(30.0 * 3.0 / 7.0, 1e-12));
  CHECK_THAT(with("lamb").update.moves.base(), WithinRel(30.0 * 10.0 / 7.0, 1e-12));
  CHECK(with("none").update.moves == Bytes(0.0));
  CHECK(with("adam").update.clips);
  CHECK_FALSE(with("none").update.clips);
}

TEST_CASE("a kernel of attention that the device lacks is refused where the user names it, with those that it has") {
  const auto refused = [](const char* hardware, const char* kernel) {
    PredictOptions o = options(hardware, "llama-3.2-1b");
    o.gpus = 1;
    o.stack = "fsdp2-2.6";
    o.precision = "fp16";
    o.attention = kernel;
    const auto configuration = configure(*open_session({TBDSIM_SOURCE_DIR}), o);
    return configuration ? std::string() : to_text(configuration.error());
  };
  CHECK(refused("dgx-a100-80gb", "flash-2").empty());
  CHECK(refused("dgx-a100-80gb", "flash-3") ==
        "--attention flash-3: a100-sxm4-80gb has no such kernel, which needs compute capability 9.0 and no later one; it has "
        "unfused, flash-1, flash-2, cudnn\n");
  CHECK(refused("dgx-a100-80gb", "cudnn").empty());
  CHECK(refused("rtx-4090", "cudnn").empty());
  CHECK(refused("dgx1", "cudnn") ==
        "--attention cudnn: v100-sxm2-16gb has no such kernel, which needs compute capability 8.0; it has unfused\n");
  CHECK(refused("dgx1", "flash-1") ==
        "--attention flash-1: v100-sxm2-16gb has no such kernel, which needs compute capability 7.5; it has unfused\n");
  CHECK(refused("dgx1", "unfused").empty());
  CHECK(refused("dgx-h100", "flash-3").empty());
  CHECK(refused("dgx-h100", "cudnn").empty());
  // FlashAttention 3 runs on Hopper alone.
  CHECK(refused("dgx-b200", "flash-3") ==
        "--attention flash-3: b200-sxm-180gb has no such kernel, which needs compute capability 9.0 and no later one; it has "
        "unfused, flash-1, flash-2, cudnn\n");
  CHECK(refused("rtx-5090", "flash-3") ==
        "--attention flash-3: rtx-5090 has no such kernel, which needs compute capability 9.0 and no later one; it has unfused, "
        "flash-1, flash-2, cudnn\n");
  CHECK(refused("dgx-b200", "cudnn").empty());
}

TEST_CASE("cuDNN's attention before Hopper is FlashAttention 2's algorithm, and called cudnn") {
  const auto word = [](const char* hardware) {
    PredictOptions o = options(hardware, "llama-3.2-1b");
    o.gpus = 1;
    o.stack = "fsdp2-2.6";
    o.precision = "bf16";
    o.attention = "cudnn";
    const Configuration c = configured(o);
    return std::pair(std::string(attention_word(c)), c.stack.operators.attention.kernel);
  };
  CHECK(word("dgx-a100-80gb") == std::pair(std::string("cudnn"), AttentionKernel::cudnn_9_ampere));
  CHECK(word("dgx-h100") == std::pair(std::string("cudnn"), AttentionKernel::cudnn_9));
  CHECK(info(AttentionKernel::cudnn_9_ampere).like == AttentionKernel::flash_2);
}

TEST_CASE("a kernel of attention that the stack names and the device lacks gives way to one that it has") {
  const auto runs = [](const char* hardware) {
    PredictOptions o = options(hardware, "llama-3-8b");
    o.stack = "megatron-core-0.14";
    o.precision = "fp16";
    const Configuration c = configured(o);
    CHECK_FALSE(c.other_attention);
    return std::string(attention_word(c));
  };
  CHECK(runs("dgx-h100") == "cudnn");
  CHECK(runs("dgx-a100-80gb") == "flash-2");
  CHECK(runs("dgx1") == "general");
  const auto runs_of_flash_3 = [](const char* hardware) {
    PredictOptions o = options(hardware, "llama-3-8b");
    o.stack = "fsdp2-2.6";
    o.precision = "bf16";
    o.set = {"stack.operators.attention_kernel=flash-3"};
    return std::string(attention_word(configured(o)));
  };
  CHECK(runs_of_flash_3("dgx-h100") == "flash-3");
  CHECK(runs_of_flash_3("dgx-b200") == "flash-2");
}
