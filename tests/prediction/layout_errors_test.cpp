// Layouts that cannot be: each is refused with the number that does not divide and what would work.
#include <filesystem>
#include <fstream>

#include "model/prediction/predict.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"

using namespace tbdsim;

namespace {

PredictOptions job(const char* model = "gpt2", const char* hardware = "dgx1") {
  PredictOptions options;
  options.hardware = hardware;
  options.model = model;
  options.batch = 1;
  return options;
}

PredictOptions experts(int gpus) {
  PredictOptions options = job("mixtral-8x7b", "dgx-a100-80gb");
  options.precision = "bf16";
  options.gpus = gpus;
  return options;
}

PredictOptions stages(int ranks, int micro_batches) {
  PredictOptions options = job();
  options.pipeline_parallel = ranks;
  options.accumulate = micro_batches;
  return options;
}

}  // namespace

TEST_CASE("axes that do not divide the GPUs, the heads, the experts or the layers are refused with the number") {
  PredictOptions options = job();
  options.tensor_parallel = 3;
  CHECK(
      refusal(options) ==
      "--tensor-parallel 3 --context-parallel 1 --pipeline-parallel 1: one copy of the network takes 3 GPUs, which do not divide "
      "the 8 of the job\n");
  options.tensor_parallel = 8;
  CHECK(refusal(options) == "--tensor-parallel 8: the 12 attention heads of gpt2 do not divide over 8 GPUs\n");
  options.tensor_parallel = 0;
  CHECK(refusal(options) == "--tensor-parallel 0: expected at least 1\n");
  options = job("resnet50");
  options.tensor_parallel = 2;
  CHECK(refusal(options) == "--tensor-parallel 2: modelled for networks with attention, resnet50 has none\n");
  options = experts(6);
  options.expert_parallel = 3;
  CHECK(refusal(options) == "--expert-parallel 3: the 8 experts of mixtral-8x7b do not divide over 3 GPUs\n");
  options = experts(8);
  options.expert_parallel = 16;
  CHECK(
      refusal(options) ==
      "--expert-parallel 16 --expert-tensor-parallel 1: 16 GPUs for a copy of the experts do not divide the 8 that compute each "
      "stage\n");
  options = job();
  options.expert_parallel = 2;
  CHECK(refusal(options) == "--expert-parallel 2: gpt2 has no experts\n");
  options = stages(8, 8);
  options.virtual_stages = 2;
  CHECK(refusal(options) == "--pipeline-parallel: 16 stages, and gpt2 has 12 layers; at most so many stages\n");
  options = job();
  options.global_batch = 17;
  CHECK(refusal(options) == "--global-batch 17: expected a multiple of 8, that is --batch 1 on 8 copies of the network\n");
}

TEST_CASE("options of axes that are not there, and axes that exclude each other, are refused with what is missing") {
  PredictOptions options = job();
  options.virtual_stages = 2;
  CHECK(refusal(options) == "--virtual-stages 2: parts of a pipeline's stages; add --pipeline-parallel 2 or more\n");
  options = job();
  options.schedule = "gpipe";
  CHECK(refusal(options) == "--schedule gpipe: of a pipeline; add --pipeline-parallel 2 or more\n");
  options = job();
  options.sequence_parallel = "on";
  CHECK(refusal(options) ==
        "--sequence-parallel on: divides what --tensor-parallel leaves whole; add --tensor-parallel 2 or more\n");
  options = job();
  options.context_parallel = 2;
  CHECK(refusal(options) ==
        "--context-parallel 2: the attention of gpt2 is not one operator under this stack; modelled for fused attention\n");
  options = experts(8);
  options.tensor_parallel = options.expert_parallel = 2;
  options.expert_tensor_parallel = 1;
  options.sequence_parallel = "off";
  CHECK(refusal(options) ==
        "--expert-tensor-parallel 1 beside --tensor-parallel: needs --sequence-parallel on, so that each GPU sends rows of its "
        "own\n");
  options = job("gpt2", "dgx-a100-80gb");
  options.stack = "megatron-lm-2022";
  options.precision = "fp16";
  options.pipeline_parallel = 2;
  options.zero = 3;
  CHECK(refusal(options) ==
        "--zero 3 with --pipeline-parallel: megatron-lm-2022 does not shard the weights of stages; at most --zero 2 there\n");
  options = job("llama-3.2-1b", "dgx-a100-80gb");
  options.stack = "fsdp2-2.6";
  options.precision = "bf16";
  options.zero = 1;
  CHECK(refusal(options) ==
        "--zero 1: fsdp2-2.6 divides states with gradients and weights; --zero 2 keeps gathered weights from forward to "
        "backward, --zero 3 gathers them again, --zero 0 divides nothing\n");
  options = job();
  options.tensor_parallel = 2;
  options.exchange = "dataparallel";
  CHECK(refusal(options) == "tensor 2, data 4: gradients of divided networks are exchanged by allreduce, not by dataparallel\n");
}

TEST_CASE("a schedule that a pipeline cannot have is refused with one that it can") {
  PredictOptions options = stages(4, 2);
  options.virtual_stages = 2;
  CHECK(refusal(options) == "--schedule interleaved: 2 micro-batches on 4 ranks; expected a multiple of 4, such as 4\n");
  options = stages(4, 8);
  options.schedule = "zb-v";
  options.virtual_stages = 3;
  CHECK(refusal(options) == "--schedule zb-v --virtual-stages 3: its GPUs have 2 parts of the network each\n");
  options.schedule = "interleaved";
  options.virtual_stages = 1;
  CHECK(refusal(options) ==
        "--schedule interleaved --virtual-stages 1: its GPUs have several parts of the network each; say --virtual-stages 2\n");
  options.virtual_stages.reset();
  CHECK(refusal(options) == "--schedule interleaved: its GPUs have several parts of the network each; add --virtual-stages 2\n");
  options.virtual_stages = 2;
  CHECK(refusal(options).empty());
  options.virtual_stages.reset();
  options.schedule = "1f2b";
  CHECK(refusal(options) == "unknown schedule \"1f2b\", did you mean \"1f1b\"?; a file of one's own ends in .toml\n");
}

TEST_CASE("a schedule of one's own is run as its name's is, and refused where its shape is not the job's") {
  const std::string path = (std::filesystem::temp_directory_path() / "tbdsim_layout_errors_schedule.toml").string();
  std::ofstream(path)
      << "schema = 1\nmicro_batches = 2\n[[rank]]\nblocks = \"F0 F1 B0 B1\"\n[[rank]]\nblocks = \"F0 F1 B0 B1\"\n";
  PredictOptions own = stages(2, 2), named = own;
  own.schedule = path;
  named.schedule = "gpipe";
  const auto a = predict(session(), own), b = predict(session(), named);
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a->step_time.value == b->step_time.value);
  CHECK(a->memory.gpus.front().peak == b->memory.gpus.front().peak);
  CHECK(a->division.schedule == "file");
  own.accumulate = 4;
  CHECK(refusal(own) == "--schedule " + path + ": the schedule has 2 micro-batches, the job 4\n");
  own.accumulate = 2;
  own.pipeline_parallel = 4;
  CHECK(refusal(own) == "--schedule " + path + ": the schedule has 2 ranks, the job 4\n");
  own.pipeline_parallel = 2;
  own.virtual_stages = 2;
  CHECK(refusal(own) == "--schedule " + path + ": the schedule has 1 chunks a rank, the job 2\n");
  std::ofstream(path) << "schema = 1\nmicro_batches = 2\n[[rank]]\nblocks = \"F0 F1 B0 X1\"\n";
  own.virtual_stages.reset();
  CHECK(refusal(own).find(path + ":4:10: rank[0].blocks: block 4: expected F, B or W with a micro-batch and a chunk") == 0);
  std::filesystem::remove(path);
  CHECK_FALSE(refusal(own).empty());
}

TEST_CASE("positions that do not divide over the tensor axis: refused where asked for, else told") {
  PredictOptions options = job("llama-3-8b", "dgx-h100");
  options.stack = "megatron-core-0.14";
  options.precision = "bf16";
  options.tensor_parallel = 2;
  options.seq_len = 513;
  const Prediction whole = predicted(options);
  CHECK_FALSE(whole.division.layout.sequence);
  CHECK(std::count(
            whole.notices.begin(), whole.notices.end(),
            "sequence parallelism is off: the positions of llama-3-8b do not divide over the 2 GPUs of --tensor-parallel") == 1);
  options.sequence_parallel = "on";
  CHECK(refusal(options) ==
        "--sequence-parallel on: the positions of llama-3-8b do not divide over the 2 GPUs of --tensor-parallel\n");
  options.seq_len = 514;
  CHECK(predicted(options).division.layout.sequence);
}

TEST_CASE("a schedule that the framework lacks is predicted, and told") {
  PredictOptions options = stages(4, 8);
  options.stack = "megatron-core-0.14";
  const auto notes = [&](const char* schedule) {
    options.schedule = schedule;
    const Prediction p = predicted(options);
    return std::count_if(p.notices.begin(), p.notices.end(), [](const std::string& n) { return n.starts_with("--schedule"); });
  };
  CHECK(notes("zb-h1") == 1);
  CHECK(notes("1f1b") == 0);
}

TEST_CASE("gradients of micro-batches are added whatever divides the network") {
  // Each micro-batch but the first adds a gradient to the one before, under ZeRO 1 as without it.
  const auto backward = [](int zero, int micro_batches) {
    PredictOptions options = job("llama-3-8b", "dgx-h100");
    options.stack = "pytorch-2.11";
    options.precision = "bf16";
    options.zero = zero;
    options.accumulate = micro_batches;
    return predicted(options).phases.backward.base() / micro_batches;
  };
  CHECK_THAT(backward(1, 16), WithinRel(backward(0, 16), 0.03));
  CHECK(backward(1, 16) > 1.03 * backward(1, 1));
}
