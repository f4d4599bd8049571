// Published memory: how far the model is off, and that it does not get worse.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/prediction/memory_report.hpp"
#include "model/validation/assess.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

std::vector<RowAccuracy> assessed(const std::string& table) {
  const auto runs = read_measured_table(std::string(TBDSIM_SOURCE_DIR) + "/scenarios/" + table);
  REQUIRE(runs);
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  std::vector<RowAccuracy> rows = assess(*session, *runs).rows;
  for (const RowAccuracy& row : rows) {
    INFO(row.id);
    REQUIRE(row.skipped.empty());
  }
  std::erase_if(rows, [](const RowAccuracy& row) { return row.fit; });
  return rows;
}

bool has(const RowAccuracy& row, const char* word) { return row.id.find(word) != std::string::npos; }

}  // namespace

// BARC 2019 slides of the DGX-1V study: merged gradient, stored weight and momentum of every array stand on GPU 0 under the NCCL
// store. Printed differences of LeNet at 64 and Inception-v3 at 32 and 64 contradict those of other batches.
TEST_CASE("GPU 0 of a DGX-1 holds three more copies of the parameters") {
  constexpr double kPrinted = 1048576000.0, kRounding = 0.005;  // of a difference of figures with two decimals
  const auto runs = read_measured_table(std::string(TBDSIM_SOURCE_DIR) + "/scenarios/seeds/dgx1_memory.csv");
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  const std::vector<RowAccuracy> rows = assess(*session, *runs).rows;
  int compared = 0;
  for (const RowAccuracy& first : rows) {
    if (!has(first, "-gpu0") || has(first, "-lenet-b64") || has(first, "inception_v3-b32") || has(first, "inception_v3-b64"))
      continue;
    const std::string other = first.id.substr(0, first.id.size() - 1) + "x";
    const auto rest = std::find_if(rows.begin(), rows.end(), [&](const RowAccuracy& row) { return row.id == other; });
    REQUIRE(rest != rows.end());
    INFO(first.id);
    CHECK(std::abs((first.predicted - rest->predicted) - (first.measured - rest->measured)) <= (0.03 + kRounding) * kPrinted);
    ++compared;
  }
  CHECK(compared == 12);
}

// The same slides: both stores take about the same memory. Over all GPUs, that can only hold where parameters are few beside
// feature maps: P2P spreads what NCCL's store gathers, and adds a copy of every gradient from each of the others.
TEST_CASE("P2P and NCCL stores differ by at most 5 % in memory, large networks on 8 GPUs") {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  for (const char* model : {"resnet50", "googlenet", "inception_v3"}) {
    for (const int batch : {16, 32, 64}) {
      double mean[2] = {0, 0};
      for (const int store : {0, 1}) {
        PredictOptions o;
        o.hardware = "dgx1";
        o.model = model;
        o.stack = "mxnet-ngc-18.04";
        o.gpus = 8;
        o.batch = batch;
        o.exchange = store == 0 ? "nccl" : "p2p";
        const MemoryReport r = report_memory(*session, o, {false, false}).value();
        for (const GpuMemory& gpu : r.memory.gpus) mean[store] += gpu.peak / Bytes(8.0);
      }
      INFO(model << " " << batch);
      CHECK(std::abs(mean[1] / mean[0] - 1.0) <= 0.05);
    }
  }
}

// UofT-EcoSystem/sockeye: the noise of one job is 3.5 %.
TEST_CASE("Sockeye's memory by batch, board, layers and width") {
  const std::vector<RowAccuracy> rows = assessed("memory/sockeye.csv");
  REQUIRE(rows.size() == 15);
  for (const RowAccuracy& row : rows) {
    INFO(row.id << " " << row.error);
    CHECK(std::abs(row.error) < (has(row, "hidden") ? 0.06 : has(row, "layers-4") || has(row, "layers-5") ? 0.11 : 0.09));
  }
  CHECK(std::accumulate(rows.begin(), rows.end(), 0.0, [](double sum, const RowAccuracy& r) { return sum + std::abs(r.error); }) <
        0.042 * 15);
}

// Shares of weights, gradients, Adam's states and planned arrays in the allocation log at batch 128: feature maps 94.9 %;
// attention 61.6, output 9.1 (UofT-EcoSystem/sockeye, iwslt15-vi_en-tbd-memory_profile.log).
TEST_CASE("Sockeye's memory by structure") {
  PredictOptions o;
  o.hardware = "titan-xp";
  o.model = "sockeye";
  o.stack = "mxnet-0.12";
  o.batch = 128;
  o.seq_len = 100;
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  const MemoryReport r = report_memory(*session, o, {false, false}).value();
  const MemoryParts& parts = r.memory.gpus.front().parts;
  const Bytes state = parts[MemoryPart::weights] + parts[MemoryPart::gradients] + parts[MemoryPart::optimizer_state];
  const Bytes planned = r.memory.gpus.front().allocated - state;
  CHECK(std::abs(planned / (planned + state) - 0.949) < 0.02);
  Bytes attention, output;
  for (const LayerMemory& layer : r.layers) {
    const bool step = layer.name.rfind("decoder_t", 0) == 0;
    const auto ends = [&](const char* word) { return layer.name.find(word) != std::string::npos; };
    if (layer.name == "attention_keys" || (step && !ends("_merge") && !ends("_hidden") && !ends("_concat")))
      attention += layer.parts.total();
    if (layer.name == "output" || layer.name == "softmax") output += layer.parts.total();
  }
  CHECK(std::abs(attention / (planned + state) - 0.616) < 0.02);
  CHECK(std::abs(output / (planned + state) - 0.091) < 0.02);
}

// facebookresearch/Detectron, MODEL_ZOO.md. No constant was fitted; that the loader's waiting batches, the copies of the first
// GPU and RetinaNet's padding belong to it was looked up after a first estimate without them had been 10 to 20 % low.
TEST_CASE("Detectron's peaks on eight P100") {
  double sum = 0.0, rows = 0.0;
  for (const RowAccuracy& row : assessed("memory/detectron.csv")) {
    INFO(row.id << " " << row.predicted << " of " << row.measured);
    const double error = std::abs(row.predicted / row.measured - 1.0);
    CHECK(error < 0.07);
    sum += error;
    rows += 1.0;
  }
  CHECK(rows == 28.0);
  CHECK(sum / rows < 0.03);
}

// google-research/bert, README: largest batches of fine-tuning on 12 GB, which contradict one another (longer sequences fit more
// tokens). What half of them needs is certain; twice as many and one more do not fit.
TEST_CASE("BERT on 12 GB: half of the published batch fits") {
  for (const RowAccuracy& row : assessed("memory/bert_max_batch.csv")) {
    INFO(row.id << " " << row.predicted);
    CHECK(row.predicted >= std::floor(row.measured / 2.0));
    if (has(row, "base-256") || has(row, "base-320") || has(row, "base-384") || has(row, "base-512"))
      CHECK(row.predicted <= 2.0 * row.measured);
  }
}
