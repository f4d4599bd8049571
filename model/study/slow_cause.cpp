#include "model/study/slow_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/hardware/lookup.hpp"
#include "model/stack/stack.hpp"

namespace tbdsim {
namespace {

/// Frequencies of causes, see the declaration.
constexpr double kCommon = 2.0, kSeldom = 0.5;

using Set = std::vector<std::string>;

/// It is there or it is not.
SlowCause plain(std::string name, std::string text, std::string test, Set set) {
  const auto change = [set = std::move(set)](double) { return SlowChange{set}; };
  return {std::move(name), std::move(text), std::move(test), {1.0}, change, {}};
}

SlowCause seldom(SlowCause cause) {
  cause.frequency = kSeldom;
  return cause;
}

/// Values of keys times a factor; the amount is that factor.
SlowCause scaled(std::string name, std::string text, std::string test, std::vector<double> factors, const Set& keys,
                 std::string what) {
  const auto set = [keys](double factor) {
    Set all;
    for (const std::string& key : keys) all.push_back(fmt::format("{}={:.4g}x", key, factor));
    return SlowChange{all};
  };
  const auto words = [what = std::move(what)](double factor) { return fmt::format("{:.2g} % of {}", 100.0 * factor, what); };
  return {std::move(name), std::move(text), std::move(test), std::move(factors), set, words};
}

bool narrow(Precision precision) { return precision != Precision::fp32 && precision != Precision::tf32; }

void add_arithmetic(const Configuration& c, std::vector<SlowCause>& causes) {
  const Device& device = c.hardware().device;
  if (c.precision != Precision::fp32)
    causes.push_back(plain("precision-not-active", fmt::format("computes in fp32, not in {}", name(c.precision)),
                           "print the dtype of an activation in the forward pass; in a profile, look for kernels named *sgemm*",
                           {"parallel.precision=fp32"}));
  if (narrow(c.precision) && device.peak.tf32_tensor)
    causes.push_back(
        seldom(plain("tf32-instead", fmt::format("computes in tf32, not in {}", name(c.precision)),
                     "print the dtype of an activation in the forward pass; in a profile, look for kernels named *tf32*",
                     {"parallel.precision=tf32"})));
  if (narrow(c.precision) && device.peak.fp16_tensor && device.peak.fp16_vector)
    causes.push_back(
        plain("tensor-cores-not-used", "16-bit kernels that do not use tensor cores",
              "make channels, widths and batch multiples of 8; in a profile, look for names without 884, 1688, 16816 "
              "or tensorop",
              {fmt::format("hw.device.peak_fp16_tensor={:.4g} TFLOP/s", device.peak.fp16_vector->base() / 1e12),
               fmt::format("hw.device.peak_bf16_tensor?={:.4g} TFLOP/s", device.peak.fp16_vector->base() / 1e12)}));
  if (c.stack.operators.order.channels_last)
    causes.push_back(
        seldom(plain("channels-first", "convolutions of channels-first arrays",
                     "is_contiguous(memory_format=torch.channels_last) of input and weights; look for nchwToNhwc kernels",
                     {"stack.operators.channels_last=false"})));
  if (c.stack.operators.fusion.elementwise)
    causes.push_back(seldom(plain("not-compiled", "element-wise operators are not fused",
                                  "count kernels a step in a profile, or compare "
                                  "with the compiler switched off",
                                  {"stack.operators.fuses_elementwise=false"})));
  if (c.recompute == Recompute::none)
    causes.push_back(seldom(plain("recompute-on", "the forward pass runs again in the backward pass",
                                  "compare memory in use with `tbdsim memory`; count forward kernels a step in a profile",
                                  {"parallel.recompute=full"})));
}

void add_board(const Configuration& c, std::vector<SlowCause>& causes) {
  if (c.hardware().device.power_limit)
    causes.push_back(scaled("power-cap", "the board's power is capped",
                            "nvidia-smi -q -d POWER,PERFORMANCE while it trains: "
                            "enforced limit, SW Power Cap",
                            {0.85, 0.7, 0.55, 0.4}, {"hw.device.power_limit"}, "the power limit"));
  causes.push_back(scaled("clock-held-down", "the GPU's clock is held down (heat, a locked clock)",
                          "nvidia-smi -q -d CLOCK,PERFORMANCE while it trains: SM clock, HW Thermal Slowdown",
                          {0.9, 0.8, 0.65, 0.5}, {"hw.device.boost_clock"}, "its clock"));
  std::vector<double> batches;
  for (int batch = c.batch / 2; batch >= 1 && 8 * batch >= c.batch; batch /= 2) batches.push_back(batch);
  if (batches.empty()) return;
  causes.push_back({"smaller-batch", "the batch per GPU is smaller than was asked",
                    "print the shape of a batch inside the training loop, on every rank", std::move(batches),
                    [](double batch) { return SlowChange{{fmt::format("parallel.batch={:.0f}", batch)}}; },
                    [](double batch) { return fmt::format("{:.0f} a GPU", batch); }, false, kSeldom});
}

void add_host(const Configuration& c, std::vector<SlowCause>& causes) {
  const auto set = [](double share) {
    Set all;
    for (const char* const key : {"stack.host.dispatch", "stack.host.update_dispatch", "stack.engine.operation?"})
      all.push_back(fmt::format("{}={:.4g}x", key, 1.0 / share));
    return SlowChange{all};
  };
  causes.push_back({"slow-host",
                    "the process that issues operators is slowed (power saving, few or shared cores)",
                    "clock of the busiest core while it trains (turbostat), governor performance; a profile shows gaps between "
                    "kernels",
                    {0.8, 0.6, 0.4, 0.25},
                    set,
                    [](double share) { return fmt::format("{:.0f} % of a core's speed", 100.0 * share); }});
  if (!c.stack.host.waits_each_step)
    causes.push_back(plain("reads-each-step", "the host waits for the GPU in every step (loss.item(), printing, logging)",
                           "look for .item(), .cpu(), print(loss) in the loop; a profile shows cudaStreamSynchronize each step",
                           {"stack.host.waits_each_step=true"}));
  if (c.stack.input.pinned)
    causes.push_back(plain("pageable-input", "batches are copied from pageable memory",
                           "pin_memory=True and non_blocking=True; a "
                           "profile names Memcpy HtoD (Pageable)",
                           {"stack.input.pinned=false"}));
}

/// An input whose samples this network takes.
std::string loaded_input(const OpGraph& graph) {
  if (graph.input_unit == "image") return "imagenet-records";
  if (graph.input_unit == "sentence") return "sentences";
  if (graph.input_unit == "utterance") return "librispeech";
  return "tokens";
}

void add_loader(const Configuration& c, std::vector<SlowCause>& causes) {
  if (c.mock_loader || c.environments) return;
  const bool loads = c.pipeline.has_value();
  const int loaders = loads ? std::max(1, c.pipeline->loaders) : 1;
  const int workers = loads ? std::max(1, c.pipeline->threads / loaders) : std::max(1, c.hardware().host.cores - 1);
  std::vector<double> amounts;
  for (const int n : {64, 48, 32, 24, 16, 12, 8, 6, 5, 4, 3, 2, 1})
    if (n < workers || !loads) amounts.push_back(n);
  if (amounts.empty()) return;
  const std::string input = loads ? "" : "parallel.input=" + loaded_input(c.network_graph().graph);
  const auto set = [input](double n) {
    Set all{fmt::format("parallel.workers={:.0f}", n)};
    if (!input.empty()) all.push_back(input);
    return SlowChange{all};
  };
  const std::string than = loads ? fmt::format(" instead of {}", workers) : "";
  causes.push_back({"loader", loads ? "fewer workers load samples than expected" : "real samples are loaded, by too few workers",
                    "train some steps on one batch that is kept: the rate then rises to the predicted one", amounts, set,
                    [than](double n) { return fmt::format("{:.0f} worker{} a process{}", n, n == 1.0 ? "" : "s", than); }, false,
                    loads ? kCommon : 1.0});
}

/// One of several names; the amount is its place among them, from 1.
SlowCause one_of(std::string name, std::string text, std::string test, const std::vector<std::string>& names,
                 const std::function<SlowChange(const std::string&)>& change) {
  std::vector<double> amounts(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) amounts[i] = static_cast<double>(i + 1);
  const auto at = [names](double place) { return names[static_cast<std::size_t>(std::lround(place)) - 1]; };
  return {std::move(name),
          std::move(text),
          std::move(test),
          std::move(amounts),
          [=](double place) { return change(at(place)); },
          at,
          false};
}

void add_storage(const Session& session, const Configuration& c, std::vector<SlowCause>& causes) {
  const std::vector<std::string> storage = catalogue_ids(session.catalogue(), kStorage.folder);
  if (c.mock_loader || c.environments || storage.empty()) return;
  const bool loads = c.pipeline.has_value();
  const std::string input = loads ? "" : "parallel.input=" + loaded_input(c.network_graph().graph);
  causes.push_back(one_of("slow-storage",
                          loads ? "samples are read from slower storage" : "real samples are loaded, from slow storage",
                          "iostat -x 1 while it trains: the device is busy all the time; an epoch from memory is faster", storage,
                          [input](const std::string& id) {
                            SlowChange change{{"parallel.storage=" + id}};
                            if (!input.empty()) change.set.push_back(input);
                            return change;
                          }));
  if (!loads) causes.back() = seldom(std::move(causes.back()));
}

void add_software(const Session& session, const PredictOptions& job, const Configuration& c, std::vector<SlowCause>& causes) {
  const std::string& root = session.catalogue().root;
  std::vector<std::string> earlier = earlier_stacks(root, c.stack.id);
  // Builds from before the board do not start on it, or compile everything anew at the start, which nobody overlooks.
  std::erase_if(earlier, [&](const std::string& id) {
    const auto stack = load_stack(root, id);
    return !stack || !knows_family(stack->cuda, c.hardware().device.chip);
  });
  if (earlier.empty()) return;
  causes.push_back(one_of("old-stack", "an older release of the framework runs",
                          "print the framework's version (torch.__version__) and torch.version.cuda inside the job", earlier,
                          [](const std::string& id) {
                            return SlowChange{{}, id};
                          }));
  if (!job.stack.empty()) causes.back() = seldom(std::move(causes.back()));
}

void add_exchange(const Configuration& c, std::vector<SlowCause>& causes) {
  causes.push_back(scaled("slow-pcie", "the PCIe link has fewer lanes or an older generation than was meant",
                          "nvidia-smi -q -d PCIE while it trains (or lspci -vv, LnkSta): generation and width, current against "
                          "maximum",
                          {0.5, 0.25, 0.125}, {"hw.link.pcie.bandwidth"}, "its rate"));
  causes.back().between = false;
  if (c.gpus < 2) return;
  causes.push_back(plain("nvlink-not-used", "GPUs exchange over PCIe and the host, not over NVLink",
                         "nvidia-smi topo -m and nvlink -s; NCCL_DEBUG=INFO names P2P or SHM for every channel; NCCL_P2P_DISABLE "
                         "must be unset",
                         {"hw.link.nvlink.wires=[]"}));
  causes.push_back(plain("no-peer-access", "GPUs exchange through host memory, not directly over PCIe",
                         "NCCL_DEBUG=INFO names SHM in place of P2P; check IOMMU and ACS", {"hw.link.pcie.peer_access=false"}));
  if (c.stack.exchange.overlaps)
    causes.push_back(plain("no-overlap", "gradients are exchanged after the backward pass, not during it",
                           "a profile shows all-reduce kernels only after the last backward kernel; look for unused parameters, "
                           "static graphs, one bucket",
                           {"stack.exchange.overlaps_backward=false"}));
  if (c.exchange == Exchange::allreduce)
    causes.push_back(seldom(plain("dataparallel", "one process drives all GPUs (DataParallel), not one each",
                                  "count the training processes in nvidia-smi; look for nn.DataParallel",
                                  {"parallel.exchange=dataparallel"})));
  if (c.nodes < 2) return;
  causes.push_back(scaled("slow-network", "nodes are joined by a slower network or interface than was meant",
                          "NCCL_DEBUG=INFO names NET/IB or NET/Socket and the interface; ib_write_bw, iperf3 between the nodes",
                          {0.5, 0.25, 0.1, 0.05, 0.02, 0.005}, {"network.bandwidth"}, "the network's rate"));
  causes.back().frequency = kCommon;
  if (c.network && c.network->rdma)
    causes.push_back(plain("no-rdma", "nodes exchange over TCP, not over RDMA", "NCCL_DEBUG=INFO names NET/Socket, not NET/IB",
                           {"network.rdma=false"}));
}

}  // namespace

std::vector<SlowCause> slow_causes(const Session& session, const PredictOptions& job, const Configuration& configuration) {
  std::vector<SlowCause> causes;
  add_loader(configuration, causes);
  add_storage(session, configuration, causes);
  add_software(session, job, configuration, causes);
  add_host(configuration, causes);
  add_arithmetic(configuration, causes);
  add_board(configuration, causes);
  add_exchange(configuration, causes);
  return causes;
}

}  // namespace tbdsim
