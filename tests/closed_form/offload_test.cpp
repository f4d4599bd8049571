// What lies on the host: the worked examples of model/schedule/divided/README.md, by hand and by the model, and ZeRO-Offload's
// figures (arXiv:2101.06840).
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "model/configuration/network_notices.hpp"
#include "model/hardware/host_memory.hpp"
#include "model/schedule/divided/host_copies.hpp"
#include "model/schedule/divided/sharded_pass.hpp"
#include "tests/predicted.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

PredictOptions job(const char* stack, const char* offload, int gpus = 8) {
  PredictOptions options;
  options.hardware = "dgx-a100-80gb";
  options.model = "gpt2-xl";
  options.stack = stack;
  options.precision = "bf16";
  options.gpus = gpus;
  options.batch = 4;
  options.offload = offload;
  if (std::string(stack).rfind("megatron", 0) == 0 && gpus > 1) options.zero = 1;
  return options;
}

double parameters(const Prediction& p) { return static_cast<double>(p.work.parameters); }

/// Of a node of 8 GPUs: a byte of each parameter over their share of the memory, 409.6 GB/s of two EPYC 7742.
double moved(const Prediction& p, double bytes, int ranks = 8) { return bytes * parameters(p) / ranks / (409.6e9 / ranks); }

/// Of one problem.
std::string refused(const PredictOptions& options) {
  const std::string text = refusal(options);
  return text.substr(0, text.find('\n'));
}

std::string page() {
  const std::ifstream file(std::string(TBDSIM_SOURCE_DIR) + "/model/schedule/divided/README.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the example of states on the host") {
  const double p = 1e9, link = 25e9, memory = 100e9;
  HostUpdate host{Seconds(4.0 * p / link), Seconds(4.0 * p / link), Seconds(36.0 * p / memory)};
  CHECK_THAT(host.to_host.base(), WithinRel(0.160, 1e-12));
  CHECK_THAT(host.update.base(), WithinRel(0.360, 1e-12));
  const auto wait = [&](OffloadOverlap overlap, Seconds gpu = Seconds(0.0)) {
    return host_wait(host, overlap, Seconds(0.1), gpu).base();
  };
  CHECK_THAT(wait(OffloadOverlap::backward), WithinRel(0.060 + 0.360 + 0.160, 1e-12));
  CHECK_THAT(wait(OffloadOverlap::none), WithinRel(0.160 + 0.360 + 0.160, 1e-12));
  CHECK_THAT(wait(OffloadOverlap::update), WithinRel(0.360, 1e-12));
  // A GPU that updates its own part meanwhile; gradients that leave after each of three micro-batches.
  CHECK_THAT(wait(OffloadOverlap::backward, Seconds(0.3)), WithinRel(0.060 + 0.060 + 0.160, 1e-12));
  host.turns = 3.0;
  CHECK_THAT(wait(OffloadOverlap::backward), WithinRel(3 * 0.060 + 0.360 + 0.160, 1e-12));
  CHECK(page().find("60 ms + 360 ms + 160 ms = 580 ms") != std::string::npos);
}

TEST_CASE("the example of activations on the host") {
  CHECK_THAT(copy_wait(Bytes(1e9), BytesPerSecond(25e9), Seconds(30e-3)).base(), WithinRel(10e-3, 1e-12));
  CHECK(copy_wait(Bytes(1e9), BytesPerSecond(25e9), Seconds(60e-3)) == Seconds(0.0));
  CHECK(page().find("forward waits 10 ms, backward does not") != std::string::npos);
}

TEST_CASE("weights on the host are copied before they are gathered, beside the layer before") {
  const PassTime pass =
      pass_time(std::vector<PassItem>{{PassItem::Kind::kernel, Seconds(4e-3), Seconds(0.0), Axis::tensor, {}, {}, false}});
  GroupCall gather;
  gather.time = Seconds(1e-3);
  std::vector<ShardedLayer> layers(3, ShardedLayer{&pass, gather, {}, Seconds(2e-3), Seconds(0.0)});
  // 3 ms of copy and call beside 4 ms of kernels; the first layer's are waited for.
  PassTime all = sharded_pass(layers);
  CHECK_THAT(all.time.base(), WithinRel(3e-3 + 3 * 4e-3, 1e-12));
  CHECK_THAT(all.offload.base(), WithinRel(2e-3, 1e-12));
  for (ShardedLayer& layer : layers) layer.copy_in = Seconds(5e-3);
  all = sharded_pass(layers);
  CHECK_THAT(all.time.base(), WithinRel(6e-3 + 3 * 4e-3 + 2 * 2e-3, 1e-12));
  CHECK_THAT(all.offload.base(), WithinRel(5e-3 + 2 * 2e-3, 1e-12));
  for (ShardedLayer& layer : layers) {
    layer.copy_in = Seconds(0.0);
    layer.copy_out = Seconds(7e-3);
  }
  // Beside two layers, after the last.
  CHECK_THAT(sharded_pass(layers).offload.base(), WithinRel((7e-3 + 1e-3 - 4e-3) + (7e-3 - 4e-3) + 7e-3, 1e-12));
}

TEST_CASE("GPUs below one switch share its way to the host") {
  const System& dgx = **session().system("dgx-a100-80gb", 8);
  const double link = 0.0 + host_copy_rate(dgx.topology, {0}).base();
  CHECK_THAT(host_copy_rate(dgx.topology, {0, 1}).base(), WithinRel(link / 2.0, 1e-12));
  CHECK_THAT(host_copy_rate(dgx.topology, {0, 2}).base(), WithinRel(link, 1e-12));
  const System& hopper = **session().system("dgx-h100", 8);
  CHECK_THAT(host_copy_rate(hopper.topology, {0, 1, 2, 3, 4, 5, 6, 7}).base(), WithinRel(55.4e9, 1e-9));
  CHECK_THAT(host_memory_rate(hopper).rate.base(), WithinRel(614.4e9, 1e-12));
  CHECK_FALSE(host_memory_rate(hopper).assumed);
}

// 16 B a parameter lie on the hosts, over the ranks that divide them; the GPU holds 12 B less.
TEST_CASE("states on the host by ZeRO-Offload's count") {
  const Prediction here = predicted(job("deepspeed-0.14", "none")), there = predicted(job("deepspeed-0.14", "states"));
  REQUIRE(there.memory.host);
  CHECK_THAT(there.memory.host->needed.base(), WithinRel(16.0 * parameters(there), 1e-6));
  CHECK_THAT(there.memory.host->rank.base(), WithinRel(2.0 * parameters(there), 1e-6));
  CHECK_FALSE(here.memory.host);
  const auto held = [](const Prediction& p, MemoryPart part) { return p.memory.gpus.front().parts[part].base(); };
  CHECK_THAT(held(here, MemoryPart::optimizer_state), WithinRel(8.0 * parameters(here) / 8.0, 1e-6));
  CHECK(held(there, MemoryPart::optimizer_state) == 0.0);
  CHECK_THAT(held(here, MemoryPart::weights) - held(there, MemoryPart::weights), WithinRel(4.0 * parameters(here) / 8.0, 1e-6));
}

TEST_CASE("a part of the states on the host takes a part of all") {
  const Prediction all = predicted(job("deepspeed-0.14", "states"));
  PredictOptions half = job("deepspeed-0.14", "states");
  half.offload_share = "0.5";
  CHECK_THAT(2.0 * predicted(half).memory.host->needed.base(), WithinRel(all.memory.host->needed.base(), 1e-9));
  half.offload_share = "0";
  const Prediction none = predicted(half), here = predicted(job("deepspeed-0.14", "none"));
  CHECK(none.step_time.value == here.step_time.value);
  CHECK(none.memory.gpus.front().peak == here.memory.gpus.front().peak);
}

TEST_CASE("the step waits for the host's update and what its copies leave") {
  const Prediction here = predicted(job("deepspeed-0.14", "none")), there = predicted(job("deepspeed-0.14", "states"));
  // Two GPUs share a switch: 4 B of each parameter's share go back at half of its rate.
  const System& dgx = **session().system("dgx-a100-80gb", 8);
  const double copy = host_copy_rate(dgx.topology, {0, 1, 2, 3, 4, 5, 6, 7}).base();
  const double back = 4.0 * parameters(there) / 8.0 / copy;
  // Backward outlasts the gradients' copy.
  CHECK(there.phases.backward.base() > back);
  CHECK_THAT(there.phases.offload.base(), WithinRel(moved(there, 36.0) + back - there.phases.weight_update.base(), 1e-6));
  // A GPU that waits draws less power, so its products run a little faster.
  CHECK(there.step_time.value > here.step_time.value);
  CHECK(there.step_time.value <= here.step_time.value + there.phases.offload);
  // Faster memory is never slower, and nothing else changes.
  PredictOptions fast = job("deepspeed-0.14", "states");
  fast.set = {"hw.host.dram_bandwidth=2x"};
  CHECK_THAT(there.phases.offload.base() - predicted(fast).phases.offload.base(), WithinRel(0.5 * moved(there, 36.0), 1e-3));
}

TEST_CASE("stages of a step with an offload sum to it") {
  for (const char* stack : {"deepspeed-0.14", "megatron-core-0.14", "fsdp2-2.6"}) {
    const Prediction p = predicted(job(stack, "states"));
    const PhaseTimes& s = p.phases;
    const Seconds sum = s.forward + s.backward + s.weight_update + s.metric + s.exchange_exposed + s.input_exposed +
                        s.host_exposed + s.bubble + s.offload;
    INFO(stack);
    CHECK(s.offload > Seconds(0.0));
    CHECK_THAT(sum.base(), WithinRel(p.step_time.value.base(), 1e-6));
  }
}

// Without a wait for the slowest GPU of several, shares are of the step itself.
TEST_CASE("what a step waits for its host is the limit: copies, and the update at the rate of the host's memory") {
  const auto share = [](const Prediction& p, Resource resource) {
    double sum = 0.0;
    for (const Limit& limit : p.limits) sum += limit.resource == resource ? limit.share : 0.0;
    return sum;
  };
  PredictOptions options = job("deepspeed-0.14", "states", 1);
  Prediction p = predicted(options);
  const double step = p.step_time.value.base(), offload = p.phases.offload.base(), update = moved(p, 36.0, 1);
  REQUIRE(offload > update);
  CHECK_THAT(share(p, Resource::host_memory_bandwidth), WithinRel(update / step, 1e-6));
  CHECK_THAT(share(p, Resource::host_link), WithinRel((offload - update) / step, 1e-6));
  CHECK_THAT(share(p, Resource::host), WithinAbs(p.phases.host_exposed.base() / step, 1e-9));
  CHECK(share(p, Resource::intra_node_link) == 0.0);
  // A slow way to the host, then a slow memory there.
  options.set = {"hw.link.pcie.bandwidth=0.02x"};
  p = predicted(options);
  CHECK(p.limit.resource == Resource::host_link);
  CHECK(p.limit.text.ends_with(" of the critical path copies data between GPUs and their host"));
  options = job("megatron-core-0.14", "states");
  options.set = {"hw.host.dram_bandwidth=0.1x"};
  p = predicted(options);
  CHECK(p.limit.resource == Resource::host_memory_bandwidth);
  CHECK(p.limit.text.ends_with(" of the critical path is the host updating weights, at the rate of its memory"));
}

// The copy of a micro-batch's gradients outlasts its backward pass.
TEST_CASE("ZeRO 2 is not told to be without effect where gradients of one copy leave after every micro-batch") {
  const auto of = [](int zero, int micro_batches) {
    PredictOptions options = job("deepspeed-0.14", "states");
    options.model = "gpt3-1.3b";
    options.seq_len = 128;
    options.tensor_parallel = 8;
    options.batch = 1;
    options.zero = zero;
    options.accumulate = micro_batches;
    return predicted(options);
  };
  const auto told = [](const Prediction& p) { return std::any_of(p.notices.begin(), p.notices.end(), is_one_copy_notice); };
  const Prediction once = of(1, 8), each = of(2, 8);
  CHECK(told(once));
  CHECK_FALSE(told(each));
  CHECK(each.step_time.value > 1.2 * once.step_time.value);
  const Prediction single = of(2, 1);
  CHECK(told(single));
  CHECK(single.step_time.value == of(1, 1).step_time.value);
}

TEST_CASE("states on the host bring ZeRO 1 with them, and a notice says so") {
  PredictOptions options = job("megatron-core-0.14", "states");
  const std::string notice =
      "--offload states: --zero 1 comes with it, since megatron-core-0.14 updates on the host what the copies divide";
  const auto told = [&](const Prediction& p) { return std::count(p.notices.begin(), p.notices.end(), notice); };
  CHECK(told(predicted(options)) == 0);
  options.zero.reset();
  const Prediction p = predicted(options);
  CHECK(p.division.zero == 1);
  CHECK(told(p) == 1);
  // One copy divides nothing.
  options = job("megatron-core-0.14", "states", 1);
  CHECK(told(predicted(options)) == 0);
}

TEST_CASE("with FSDP the weights lie on the host as well") {
  const Prediction p = predicted(job("fsdp2-2.6", "states"));
  CHECK_THAT(p.memory.host->needed.base(), WithinRel(16.0 * parameters(p), 1e-6));
  const Prediction here = predicted(job("fsdp2-2.6", "none"));
  const auto weights = [](const Prediction& q) { return q.memory.gpus.front().parts[MemoryPart::weights].base(); };
  CHECK_THAT(weights(here) - weights(p), WithinRel(4.0 * parameters(p) / 8.0, 1e-6));
}

// All layers but the last leave: on the GPU stays what the last and two others keep.
TEST_CASE("activations of n layers leave the GPU for the host") {
  const auto maps = [](const Prediction& p) { return p.memory.gpus.front().parts[MemoryPart::feature_maps].base(); };
  PredictOptions options = job("megatron-core-0.8", "");
  const Prediction here = predicted(options);
  double before = maps(here), host = 0.0;
  for (const int layers : {8, 16, 24}) {
    options.offload_layers = layers;
    const Prediction p = predicted(options);
    INFO(layers);
    CHECK(maps(p) < before);
    // A layer more on the host is a layer less here.
    if (layers > 8) CHECK_THAT(before - maps(p), WithinRel(p.memory.host->rank.base() - host, 0.02));
    before = maps(p);
    host = p.memory.host->rank.base();
    CHECK(p.step_time.value >= here.step_time.value);
  }
}

TEST_CASE("a host whose memory does not hold the states refuses the job with figures") {
  PredictOptions options = job("deepspeed-0.14", "states");
  options.set = {"hw.host_memory=20GB"};
  const Prediction p = predicted(options);
  CHECK_FALSE(p.memory.fits);
  CHECK_FALSE(p.memory.host->fits);
  // Just enough.
  options.set = {fmt::format("hw.host_memory={}B", p.memory.host->needed.base() * (1.0 + 1e-9))};
  CHECK(predicted(options).memory.fits);
}

TEST_CASE("what cannot lie on the host") {
  CHECK(refused(job("pytorch-2.1", "states")) ==
        "--offload states: pytorch-2.1 keeps no states on the host; deepspeed-0.14, megatron-core-0.14 and fsdp2-2.6 do");
  CHECK(refused(job("deepspeed-0.14", "activations")) ==
        "--offload activations: deepspeed-0.14 keeps no activations on the host; megatron-core-0.8 and -0.14 do");
  CHECK(refused(job("deepspeed-0.14", "weights")) ==
        "unknown offload \"weights\", expected one of none, states, activations, both");
  PredictOptions options = job("deepspeed-0.14", "states");
  options.zero = 0;
  CHECK(refused(options) ==
        "--offload states --zero 0: deepspeed-0.14 updates on the host what the copies divide; at least --zero 1");
  options = job("deepspeed-0.14", "states");
  options.offload_share = "1.5";
  CHECK(refused(options) == "--offload-share 1.5: expected a number from 0 to 1");
  options.offload = "";
  CHECK(refused(options) == "--offload-share 1.5: of states on the host; add --offload states");
  options = job("fsdp2-2.6", "states");
  options.offload_share = "0.5";
  CHECK(refused(options) == "--offload-share 0.5: fsdp2-2.6 keeps all states on the host or none");
  CHECK(
      refused(job("fsdp2-2.6", "states", 1)) ==
      "--offload states: fsdp2-2.6 keeps weights on the host with their states, where --zero 3 divides them over several copies "
      "and no pipeline keeps them gathered");
  options = job("deepspeed-0.14", "states");
  options.optimizer = "lamb";
  CHECK(refused(options) == "--offload states --optimizer lamb: hosts update by Adam alone");
  options = job("megatron-core-0.8", "activations");
  options.recompute = "selective";
  CHECK(refused(options) ==
        "--offload activations --recompute selective: what is computed again is not kept on the host; give one of them");
  options = job("megatron-core-0.8", "none");
  options.offload_layers = 4;
  CHECK(refused(options) == "--offload none --offload-layers 4: give one of them");
  options.offload = "";
  options.offload_layers = 48;
  CHECK(refused(options) == "--offload-layers 48: at most 47, all layers but the last");
  options.offload_layers = 4;
  options.pipeline_parallel = 2;
  options.accumulate = 2;
  CHECK(refused(options) == "--offload-layers 4 --pipeline-parallel 2: activations leave for the host without a pipeline only");
}
