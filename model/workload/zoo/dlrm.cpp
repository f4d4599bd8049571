// Deep learning recommendation model: dense features through products, categorical ones through tables, all pairs multiplied.
#include <fmt/format.h>

#include <array>
#include <numeric>
#include <span>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kNvidia =
    "Naumov et al., arXiv:1906.00091, as in NVIDIA DeepLearningExamples, PyTorch/Recommendation/DLRM, \"small\": words seen 15 "
    "times or more";
constexpr const char* kKaggle = "Naumov et al., arXiv:1906.00091, facebookresearch/dlrm, bench/dlrm_s_criteo_kaggle.sh";
constexpr const char* kMlperf =
    "Naumov et al., arXiv:1906.00091, facebookresearch/dlrm, bench/run_and_time.sh: MLPerf Training 0.7 to 2.1";
constexpr const char* kTorchBench = "Naumov et al., arXiv:1906.00091, as in pytorch/benchmark, torchbenchmark/models/dlrm";

/// Rows of the tables of a categorical feature each. Criteo's days 0 to 22, at most 40 million rows a table
/// (bench/run_and_time.sh).
constexpr std::array<std::int64_t, 26> kTerabyte{39884406, 39043,    17289,    7420,     20263,  3,     7120, 1543, 63,
                                                 38532951, 2953546,  403346,   10,       2208,   11938, 155,  4,    976,
                                                 14,       39979771, 25641295, 39664984, 585935, 12972, 108,  36};
/// The same without words seen less than 15 times (eth-easl/modyn, the configuration of NVIDIA's experiments).
constexpr std::array<std::int64_t, 26> kFrequent{7912889, 33823,   17139,   7339,    20046,  4,     7105, 1382, 63,
                                                 5554114, 582469,  245828,  11,      2209,   10667, 104,  4,    968,
                                                 15,      8165896, 2675940, 7156453, 302516, 12022, 97,   35};
/// Criteo's week of the Kaggle competition.
constexpr std::array<std::int64_t, 26> kWeek{1460,  583,  10131227, 2202608, 305, 24,     12517,   633,   3,
                                             93145, 5683, 8351593,  3194,    27,  14992,  5461306, 10,    5652,
                                             2173,  4,    7046547,  18,      15,  286181, 105,     142572};
constexpr std::array<std::int64_t, 8> kMillions{1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000};

struct Tables {
  std::span<const std::int64_t> tables;
  std::int64_t dense = 13, width = 128, bag = 1;
  std::span<const int> bottom, top;
  bool joint = false;  ///< kernels of the script's own: all tables in one array, and the products of pairs
};

TensorId layers(GraphBuilder& g, TensorId x, std::span<const int> widths, const std::string& p, bool ends) {
  for (std::size_t i = 0; i < widths.size(); ++i) {
    x = g.linear(x, widths[i], fmt::format("{}{}", p, i));
    if (!ends || i + 1 < widths.size()) x = g.relu(x, fmt::format("{}relu{}", p, i));
  }
  return x;
}

Result<OpGraph> build(const ZooEntry& entry, const Tables& d) {
  GraphBuilder g(entry.name, entry.variant, "record", Shape{d.dense}, entry.default_batch);
  g.trains_with("sgd");
  const auto count = static_cast<std::int64_t>(d.tables.size());
  const TensorId dense = layers(g, g.input(), d.bottom, "bottom.", false);
  std::vector<TensorId> vectors{g.reshape(dense, {1, d.width}, "bottom.row")};
  const auto look_up = [&](std::int64_t rows, std::int64_t tokens, const std::string& name) {
    const TensorId words = g.another_input(Shape{tokens}, name + ".words");
    vectors.push_back(g.add(OpKind::embedding, {words}, EmbeddingAttributes{rows, d.width, false, d.bag, true, d.joint}, name));
  };
  if (d.joint)
    look_up(std::accumulate(d.tables.begin(), d.tables.end(), std::int64_t{0}), count, "tables");
  else
    for (std::size_t i = 0; i < d.tables.size(); ++i) look_up(d.tables[i], d.bag, fmt::format("table{}", i));
  const TensorId all = g.add(OpKind::concat, vectors, ConcatAttributes{0}, "vectors");
  TensorId x = all;
  if (d.joint) {
    x = g.add(OpKind::pair_products, {all, dense}, PairProductsAttributes{8}, "pairs");
  } else {
    x = g.add(OpKind::matmul, {all, all}, MatmulAttributes{true}, "products");
    x = g.reshape(x, {(count + 1) * (count + 1)}, "products.flat");
    x = g.concat({dense, g.add(OpKind::gather, {x}, GatherAttributes{(count + 1) * count / 2}, "pairs")}, "joined");
  }
  x = layers(g, x, d.top, "top.", true);
  g.add(OpKind::element_loss, {x}, {}, "loss");
  return std::move(g).finish();
}

Result<OpGraph> build_nvidia(const ZooEntry& entry, const ZooOptions&) {
  constexpr std::array bottom{512, 256, 128};
  constexpr std::array top{1024, 1024, 512, 256, 1};
  return build(entry, {.tables = kFrequent, .bottom = bottom, .top = top, .joint = true});
}
Result<OpGraph> build_mlperf(const ZooEntry& entry, const ZooOptions&) {
  constexpr std::array bottom{512, 256, 128};
  constexpr std::array top{1024, 1024, 512, 256, 1};
  return build(entry, {.tables = kTerabyte, .bottom = bottom, .top = top});
}
Result<OpGraph> build_kaggle(const ZooEntry& entry, const ZooOptions&) {
  constexpr std::array bottom{512, 256, 64, 16};
  constexpr std::array top{512, 256, 1};
  return build(entry, {.tables = kWeek, .width = 16, .bottom = bottom, .top = top});
}
Result<OpGraph> build_torchbench(const ZooEntry& entry, const ZooOptions&) {
  constexpr std::array bottom{512, 64};
  constexpr std::array top{1024, 1024, 1024, 1};
  return build(entry, {.tables = kMillions, .dense = 512, .width = 64, .bag = 100, .bottom = bottom, .top = top});
}

}  // namespace

void append_dlrm(std::vector<ZooEntry>& entries) {
  const auto add = [&](const char* name, const char* dataset, int batch, const char* source,
                       Result<OpGraph> (*build)(const ZooEntry&, const ZooOptions&)) {
    ZooEntry entry = image_classifier(name, "pytorch", source, build, 0);
    entry.application = "recommendation";
    entry.dataset = dataset;
    entry.default_batch = batch;
    entry.dominant_layer = "embedding";
    entries.push_back(std::move(entry));
  };
  add("dlrm", "Criteo Terabyte", 65536, kNvidia, build_nvidia);
  add("dlrm-mlperf", "Criteo Terabyte", 32768, kMlperf, build_mlperf);
  add("dlrm-kaggle", "Criteo Kaggle", 2048, kKaggle, build_kaggle);
  add("dlrm-torchbench", "random", 2048, kTorchBench, build_torchbench);
}

}  // namespace tbdsim
