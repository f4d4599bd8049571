// Everything in the catalogue can be predicted: every GPU, every system, every network, every stack.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "model/configuration/session.hpp"
#include "model/prediction/predict.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const Catalogue kCatalogue{TBDSIM_SOURCE_DIR};

Session& session() {
  static const std::shared_ptr<Session> kSession = open_session(kCatalogue);
  return *kSession;
}

PredictOptions options(std::string hardware, std::string model = "resnet50", std::string stack = "") {
  PredictOptions o;
  o.hardware = std::move(hardware);
  o.model = std::move(model);
  o.stack = std::move(stack);
  return o;
}

/// Checks what holds for any prediction; the refusal otherwise.
std::string sane(const PredictOptions& o) {
  const auto p = predict(session(), o);
  if (!p) return to_text(p.error());
  CHECK(std::isfinite(p->step_time.high.base()));
  CHECK(p->step_time.low > Seconds(0.0));
  CHECK(p->step_time.low < p->step_time.value);
  CHECK(p->step_time.value < p->step_time.high);
  CHECK(p->memory.gpus.front().peak > Bytes(0.0));
  double shares = 0.0;
  for (const Limit& limit : p->limits) shares += limit.share;
  CHECK_THAT(shares, WithinRel(1.0, 1e-9));
  for (const ProvenanceEntry& entry : p->provenance) {
    INFO(entry.what << ": " << entry.kind << ": " << entry.source);
    CHECK_FALSE(entry.kind.empty());
    CHECK_FALSE(entry.source.empty());
  }
  return "";
}

}  // namespace

TEST_CASE("every GPU of the catalogue trains ResNet-50, alone and as four in a plain host") {
  for (const std::string& id : catalogue_ids(kCatalogue, "gpus")) {
    INFO(id);
    PredictOptions o = options(id);
    CHECK(sane(o) == "");
    o.gpus = 4;
    CHECK(sane(o) == "");
  }
}

TEST_CASE("every system of the catalogue trains ResNet-50, on one GPU, on one node and on two") {
  for (const std::string& id : catalogue_ids(kCatalogue, "systems")) {
    INFO(id);
    PredictOptions o = options(id);
    CHECK(sane(o) == "");
    o.gpus = 1;
    CHECK(sane(o) == "");
    o.gpus.reset();
    o.nodes = 2;
    if (load_system(kCatalogue, id)->network)
      CHECK(sane(o) == "");
    else
      CHECK(sane(o) == fmt::format("{}: 2 nodes need a network; name one with --network\n", id));
    o.network = "ethernet-10g";
    CHECK(sane(o) == "");
  }
}

TEST_CASE("every network trains under each fourth stack that serves the board") {
  constexpr std::size_t kFourth = 4;                               // every stack has its turn: networks begin at different ones
  const std::set<std::string> of_pytorch{"timm", "hf", "nvidia"};  // definitions that exist there only
  const std::vector<std::string> stacks = catalogue_ids(kCatalogue, "stacks");
  std::size_t first = 0;
  for (const ZooEntry& entry : zoo()) {
    for (std::size_t at = first++ % kFourth; at < stacks.size(); at += kFourth) {
      const std::string& stack = stacks[at];
      const bool there_only = of_pytorch.count(entry.variant) > 0 || entry.name.starts_with("dlrm");
      if (there_only && stack.find("pytorch") != 0) continue;
      INFO(entry.name << "@" << entry.variant << " under " << stack);
      const char* board = stack.find("rocm") != std::string::npos ? "mi25"
                          : stack.starts_with("pytorch-2.11")     ? "t4"
                                                                  : "v100-sxm2-16gb";
      PredictOptions o = options(board, entry.name + "@" + entry.variant, stack);
      CHECK(sane(o) == "");
    }
  }
}

/// What a precision meets on a device: empty, or why it is refused.
std::string expected_refusal(const Device& device, std::string_view precision) {
  const bool missing = (precision == "tf32" && !device.peak.tf32_tensor) || (precision == "bf16" && !device.peak.bf16_tensor);
  if (!missing) return "";
  std::vector<std::string_view> names;
  for (const Precision known : precisions(device)) names.push_back(name(known));
  return fmt::format("precision {0}: {1} has no {0} tensor cores; it has {2}\n", precision, device.id, fmt::join(names, ", "));
}

TEST_CASE("every precision the board has works, the others are refused by name") {
  for (const std::string& id : catalogue_ids(kCatalogue, "gpus")) {
    const Device device = load_device(kCatalogue, id).value();
    for (const char* precision : {"fp32", "fp16", "amp", "tf32", "bf16"}) {
      INFO(id << " " << precision);
      PredictOptions o = options(id);
      o.precision = precision;
      CHECK(sane(o) == expected_refusal(device, precision));
    }
  }
}
