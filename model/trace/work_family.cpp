#include "model/trace/work_family.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string>

namespace tbdsim::trace {
namespace {

constexpr std::array<WorkFamilyInfo, 12> kFamilies{{{WorkFamily::convolution, "convolution"},
                                                    {WorkFamily::product, "product"},
                                                    {WorkFamily::recurrent, "recurrent"},
                                                    {WorkFamily::attention, "attention"},
                                                    {WorkFamily::normalisation, "normalisation"},
                                                    {WorkFamily::softmax, "softmax"},
                                                    {WorkFamily::embedding, "embedding"},
                                                    {WorkFamily::pooling, "pooling"},
                                                    {WorkFamily::update, "update"},
                                                    {WorkFamily::element_wise, "element-wise"},
                                                    {WorkFamily::exchange, "exchange"},
                                                    {WorkFamily::copy, "copy"}}};

struct Words {
  WorkFamily family;
  std::initializer_list<std::string_view> words;
};
// In this order: an optimiser's step holds products of vectors, a fused attention names products, too.
const Words kWords[] = {
    {WorkFamily::copy, {"memcpy", "memset"}},
    {WorkFamily::exchange,
     {"nccl", "rccl", "allreduce", "all_reduce", "all_gather", "allgather", "reduce_scatter", "reducescatter", "deep_ep"}},
    {WorkFamily::update,
     {"optimizer", "multi_tensor_apply", "multitensorapply", "fused_adam", "fused_sgd", "_foreach_", " update"}},
    {WorkFamily::attention, {"flash", "fmha", "attention", "sdpa"}},
    {WorkFamily::recurrent, {"lstm", "gru_", "gru ", "_rnn", "rnnbackward", "cudnn_rnn"}},
    {WorkFamily::convolution, {"conv", "winograd", "dgrad", "wgrad", "fprop", "nchwtonhwc", "nhwctonchw", "implicit_gemm"}},
    {WorkFamily::normalisation, {"norm", "bn_fw", "bn_bw"}},
    {WorkFamily::softmax, {"softmax", "cross_entropy", "nll_loss", "nllloss"}},
    {WorkFamily::embedding, {"embedding", "index_select", "gather "}},
    {WorkFamily::pooling, {"pool"}},
    {WorkFamily::product,
     {"gemm", "cutlass", "xmma", "wgmma", "gemv", "nvjet", "splitk", "linear", "matmul", "addmm", "bmm", "::mm", "mmbackward"}}};

}  // namespace

std::span<const WorkFamilyInfo> work_families() { return kFamilies; }
const WorkFamilyInfo& info(WorkFamily family) { return kFamilies[static_cast<std::size_t>(family)]; }

WorkFamily family_of_name(std::string_view name, bool* told) {
  std::string low(name);
  std::transform(low.begin(), low.end(), low.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Words& entry : kWords) {
    const bool found = std::any_of(entry.words.begin(), entry.words.end(),
                                   [&](std::string_view word) { return low.find(word) != std::string::npos; });
    if (!found) continue;
    if (told != nullptr) *told = true;
    return entry.family;
  }
  if (told != nullptr) *told = false;
  return WorkFamily::element_wise;
}

Families::Families(const Trace& trace) : names_(trace.names.size()) {
  for (std::size_t i = 0; i < names_.size(); ++i) names_[i].family = family_of_name(trace.names[i], &names_[i].told);
}

WorkFamily Families::of(const Event& event) const {
  if (event.activity == Activity::exchange) return WorkFamily::exchange;
  if (event.activity != Activity::kernel) return WorkFamily::copy;
  if (event.op >= 0 && names_[static_cast<std::size_t>(event.op)].told) return names_[static_cast<std::size_t>(event.op)].family;
  return names_[static_cast<std::size_t>(event.name)].family;
}

}  // namespace tbdsim::trace
