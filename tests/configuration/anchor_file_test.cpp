// Multipliers of one's own machine: the file, and that each acts on its part of a step and on nothing else.
#include "model/configuration/anchor_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "model/prediction/predict.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

struct TemporaryFile {
  std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("tbdsim_anchor_{}_{}.toml", getpid(), static_cast<void*>(this)))
          .string();
  explicit TemporaryFile(const std::string& text) { std::ofstream(path) << text; }
  ~TemporaryFile() { std::remove(path.c_str()); }
};

PhaseTimes stages(const std::vector<std::string>& set, const char* model, int gpus) {
  PredictOptions options;
  options.hardware = gpus > 1 ? "dgx-h100" : "h100-sxm5-80gb";
  options.model = model;
  options.precision = "amp";
  options.gpus = gpus;
  options.batch = 8;
  options.set = set;
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  const auto prediction = predict(*session, options);
  REQUIRE(prediction);
  return prediction->phases;
}

}  // namespace

TEST_CASE("a written file reads back, and names values of the device") {
  AnchorFile file;
  file.source = "fitted: runs.csv, 4 steps";
  file.anchors[0] = {1.25, 1.1, 1.4, true};
  file.anchors[4] = {0.8, 0.7, 0.9, true};
  const TemporaryFile written(to_toml(file));
  const auto read = read_anchor_file(written.path);
  REQUIRE(read);
  CHECK(read->anchors[0].value == 1.25);
  CHECK(read->anchors[0].high == 1.4);
  CHECK_FALSE(read->anchors[1].fitted);
  CHECK(anchor_assignments(written.path).value() ==
        std::vector<std::string>{"hw.device.anchor_products=1.25", "hw.device.anchor_host=0.8"});
}

TEST_CASE("what is no such file, to the letter") {
  const TemporaryFile bad("schema = 1\nsource = \"x\"\n[anchor.products]\nvalue = 20\n[anchor.producs]\nvalue = 1\n");
  const auto read = read_anchor_file(bad.path);
  REQUIRE_FALSE(read);
  const std::string text = to_text(read.error());
  CHECK(text.find("anchor.products.value: expected") != std::string::npos);
  CHECK(text.find("anchor.producs: unknown key, did you mean \"products\"?") != std::string::npos);
  const TemporaryFile outside("schema = 1\nsource = \"x\"\n[anchor.products]\nvalue = 1\nlow = 1.1\nhigh = 1.2\n");
  CHECK(to_text(read_anchor_file(outside.path).error()).find("expected a number between low and high, got 1") !=
        std::string::npos);
}

TEST_CASE("every multiplier lengthens its own part of a step") {
  const PhaseTimes plain = stages({}, "bert-base", 8);
  const PhaseTimes products = stages({"hw.device.anchor_products=1.5"}, "bert-base", 8);
  CHECK(products.forward > plain.forward);
  CHECK(products.weight_update == plain.weight_update);
  // Buckets leave later; what lies beside them changes, not what they carry.
  CHECK_THAT(products.exchange_total / plain.exchange_total, Catch::WithinRel(1.0, 0.1));
  const PhaseTimes memory = stages({"hw.device.anchor_memory=1.5"}, "bert-base", 8);
  CHECK(memory.weight_update > plain.weight_update);
  CHECK_THAT(memory.exchange_total / plain.exchange_total, Catch::WithinRel(1.0, 0.1));
  const PhaseTimes exchange = stages({"hw.device.anchor_exchange=1.5"}, "bert-base", 8);
  CHECK(exchange.forward == plain.forward);
  // Copies into and out of the buckets are kernels; the anchor of memory-bound ones lengthens these.
  CHECK(exchange.exchange_total > 1.4 * plain.exchange_total);
  CHECK(exchange.exchange_total < 1.5 * plain.exchange_total);
  const PhaseTimes host = stages({"hw.device.anchor_host=4"}, "bert-base", 8);
  CHECK(host.host_exposed > plain.host_exposed);
  CHECK(host.exchange_total == plain.exchange_total);
}
