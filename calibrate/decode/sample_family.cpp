#include "calibrate/decode/sample_family.hpp"

#include <algorithm>

namespace tbdsim::calibrate {
namespace {

using K = KeyKind;

constexpr std::string_view kCopyKinds[] = {"h2d-pinned", "h2d-pageable", "d2h-pinned", "d2h-pageable", "d2d", "p2p"};

constexpr std::string_view kCells[] = {"lstm", "gru", "vanilla"};

constexpr std::string_view kBesideKinds[] = {"h2d-pinned", "d2h-pinned", "all-reduce"};

constexpr ShapeKey kGemm[] = {{"b"}, {"m"}, {"n"}, {"k"}, {"ta", K::flag}, {"tb", K::flag}};
constexpr ShapeKey kConvolution[] = {{"n"},
                                     {"c"},
                                     {"h"},
                                     {"w"},
                                     {"k"},
                                     {"r"},
                                     {"s"},
                                     {"stride_h"},
                                     {"stride_w"},
                                     {"pad_h", K::count},
                                     {"pad_w", K::count},
                                     {"dilation"},
                                     {"groups"}};
constexpr ShapeKey kRecurrent[] = {
    {"cell", K::text, kCells}, {"input"}, {"hidden"}, {"batch"}, {"steps"}, {"layers"}, {"directions"}};
// kv_heads 0: as many as heads; d_v 0: values as wide as keys; window 0: none, else keys that a query sees up to its own.
constexpr ShapeKey kAttention[] = {{"b"},
                                   {"heads"},
                                   {"sq"},
                                   {"sk"},
                                   {"d"},
                                   {"causal", K::flag},
                                   {"fused", K::flag},
                                   {"kv_heads", K::count, {}, 0},
                                   {"d_v", K::count, {}, 0},
                                   {"window", K::count, {}, 0}};
constexpr ShapeKey kRows[] = {{"rows"}, {"cols"}};
// The experts of one rank: `tokens` of the whole group, each to `topk` of `experts`; feed-forward parts of `inter` features, gated
// or not, over tp x ep ranks.
constexpr ShapeKey kExperts[] = {{"tokens"}, {"hidden"}, {"inter"}, {"topk"}, {"experts"}, {"tp"}, {"ep"}, {"gated", K::flag}};
constexpr ShapeKey kBatchNorm[] = {{"n"}, {"c"}, {"hw"}};
constexpr ShapeKey kPool[] = {{"n"}, {"c"}, {"h"}, {"w"}, {"r"}, {"s"}, {"stride"}, {"pad", K::count}, {"kind", K::text}};
// A fill has no input, a reduction may keep no output.
constexpr ShapeKey kElementwise[] = {{"elements"}, {"inputs", K::count}, {"outputs", K::count}};
constexpr ShapeKey kEmbedding[] = {{"rows"}, {"width"}, {"lookups"}};
constexpr ShapeKey kOptimizer[] = {{"elements"}, {"states", K::count}, {"tensors"}};
// An empty message is measured for its latency.
constexpr ShapeKey kCopy[] = {{"bytes", K::count}, {"kind", K::text, kCopyKinds}};
// Empty kernels issued one after the other; graph: replayed as one graph.
constexpr ShapeKey kLaunch[] = {{"kernels"}, {"graph", K::flag}};
constexpr ShapeKey kCollective[] = {{"bytes", K::count}, {"ranks"}, {"nodes"}};
// A product m x n x k again and again, for as long as a board takes to settle on a clock.
constexpr ShapeKey kLoad[] = {{"m"}, {"n"}, {"k"}, {"seconds"}};
// A product m x n x k while transfers of `bytes` run on another stream; alone it is a row of gemm.
constexpr ShapeKey kOverlap[] = {{"m"}, {"n"}, {"k"}, {"bytes"}, {"ranks"}, {"kind", K::text, kBesideKinds}};

constexpr SampleFamily kFamilies[] = {
    {"gemm", kGemm},
    {"conv", kConvolution},
    {"rnn", kRecurrent},
    {"attention", kAttention},
    {"softmax", kRows},
    {"layer_norm", kRows},
    {"rms_norm", kRows},
    {"rope", kRows},
    {"gated_activation", kRows},
    {"experts", kExperts},
    {"batch_norm", kBatchNorm},
    {"pool", kPool},
    {"elementwise", kElementwise},
    {"dropout", kElementwise},
    {"embedding", kEmbedding},
    {"optimizer", kOptimizer},
    {"copy", kCopy},
    {"collective", kCollective},
    {"launch", kLaunch},
    {"overlap", kOverlap},
    {kLoadFamily, kLoad},
};

}  // namespace

std::span<const SampleFamily> sample_families() { return kFamilies; }

const SampleFamily* find_family(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const SampleFamily& family) { return family.name == name; });
  return found == std::end(kFamilies) ? nullptr : found;
}

}  // namespace tbdsim::calibrate
