#include "calibrate/collect/plan.hpp"

#include <set>

#include "calibrate/collect/session.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

namespace {

const std::string kHead = "name = \"p\"\nbudget = \"1 min\"\n";

std::string errors_of(const std::string& body) {
  const auto plan = parse_plan(kHead + body, "p.toml");
  REQUIRE_FALSE(plan);
  return to_text(plan.error());
}

}  // namespace

TEST_CASE("a block is every combination of its lists") {
  const auto plan = parse_plan(kHead +
                                   "[[measure]]\nfamily = \"softmax\"\nprecision = [\"fp32\", \"fp16\"]\n"
                                   "pass = [\"forward\", \"backward\"]\ncache = [\"cold\", \"hot\"]\n"
                                   "shape = [\"rows=8;cols=4\", \"cols=4;rows=16\"]\n",
                               "p.toml");
  REQUIRE(plan);
  CHECK(plan->budget == Seconds(60.0));
  REQUIRE(plan->measurements.size() == 16);
  CHECK(key(plan->measurements[0]) == "softmax softmax fp32 forward rows=8;cols=4 cold");
  // The order of the keys in the file does not matter.
  CHECK(key(plan->measurements[15]) == "softmax softmax fp16 backward rows=16;cols=4 hot");
}

TEST_CASE("blocks take turns, so that a spent budget leaves no family out") {
  const auto plan = parse_plan(kHead +
                                   "[[measure]]\nfamily = \"softmax\"\nshape = [\"rows=1;cols=1\", \"rows=2;cols=1\"]\n"
                                   "[[measure]]\nfamily = \"layer_norm\"\nshape = [\"rows=1;cols=1\"]\n",
                               "p.toml");
  REQUIRE(plan);
  REQUIRE(plan->measurements.size() == 3);
  CHECK(plan->measurements[0].sample.family == "softmax");
  CHECK(plan->measurements[1].sample.family == "layer_norm");
  CHECK(plan->measurements[2].sample.family == "softmax");
}

TEST_CASE("mistakes in a plan are told all at once") {
  CHECK(errors_of("[[measure]]\nfamily = \"sofmax\"\nprecision = [\"fp31\"]\nshape = [\"rows=8\"]\n") ==
        "p.toml:4:10: measure[0].family: unknown family \"sofmax\", did you mean \"softmax\"?\n"
        "   4 | family = \"sofmax\"\n"
        "     |          ^~~~~~~~\n"
        "p.toml:5:13: measure[0].precision: unknown precision \"fp31\", did you mean \"fp32\"?\n"
        "   5 | precision = [\"fp31\"]\n"
        "     |             ^~~~~~~~\n");
  CHECK(errors_of("") == "p.toml:1:1: expected at least one [[measure]]\n");
  const std::string twice = errors_of("[[measure]]\nfamily = \"softmax\"\nshape = [\"rows=8;cols=4\", \"rows=8;cols=4\"]\n");
  CHECK(twice.find("softmax softmax fp32 forward rows=8;cols=4 cold is measured twice") != std::string::npos);
}

TEST_CASE("a plan may name algorithms, each measured in the passes that have it") {
  const std::string shape =
      "shape = [\"n=1;c=1;h=8;w=8;k=1;r=3;s=3;stride_h=1;stride_w=1;pad_h=1;pad_w=1;dilation=1;groups=1\"]\n";
  const auto plan = parse_plan(kHead +
                                   "[[measure]]\nfamily = \"conv\"\npass = [\"forward\", \"backward_data\"]\n"
                                   "algorithm = [\"winograd\", \"direct\", \"algo_1\"]\n" +
                                   shape,
                               "p.toml");
  REQUIRE(plan);
  std::vector<std::string> measured;
  for (const Measurement& m : plan->measurements) measured.push_back(m.sample.pass + " " + m.sample.algorithm);
  CHECK(measured ==
        std::vector<std::string>{"forward winograd", "forward direct", "backward_data winograd", "backward_data algo_1"});
  const std::string ending = " cold winograd";
  CHECK(key(plan->measurements[0]).substr(key(plan->measurements[0]).size() - ending.size()) == ending);
  CHECK(errors_of("[[measure]]\nfamily = \"conv\"\nalgorithm = [\"algo_3\"]\n" + shape).find("unknown algorithm \"algo_3\"") !=
        std::string::npos);
  CHECK(errors_of("[[measure]]\nfamily = \"softmax\"\nalgorithm = [\"fft\"]\nshape = [\"rows=8;cols=4\"]\n")
            .find("only convolutions have a choice of algorithm") != std::string::npos);
}

TEST_CASE("a sample read back is the measurement that made it, whoever chose the algorithm") {
  const auto plan =
      parse_plan(kHead +
                     "[[measure]]\nfamily = \"conv\"\nalgorithm = [\"fft\"]\n"
                     "shape = [\"n=1;c=1;h=8;w=8;k=1;r=3;s=3;stride_h=1;stride_w=1;pad_h=1;pad_w=1;dilation=1;groups=1\"]\n",
                 "p.toml");
  REQUIRE(plan);
  Measurement m = plan->measurements.front();
  Sample s = m.sample;
  s.flags = "cold " + std::string(kNamedAlgorithm);
  CHECK(key(s) == key(m));
  s.flags = "cold";  // the library chose fft
  m.sample.algorithm.clear();
  CHECK(key(s) == key(m));
}

TEST_CASE("the plans that ship can be read and grow") {
  std::size_t smaller = 0;
  Seconds shorter;
  for (const char* name : {"quick", "standard", "full"}) {
    INFO(name);
    const auto plan = read_plan(std::string(TBDSIM_SOURCE_DIR) + "/calibrate/plans/" + name + ".toml");
    if (!plan) FAIL(to_text(plan.error()));
    CHECK(plan->name == name);
    CHECK(plan->measurements.size() > smaller);
    CHECK(plan->budget > shorter);
    smaller = plan->measurements.size();
    shorter = plan->budget;
    std::set<std::string> families;
    for (const Measurement& m : plan->measurements) families.insert(m.sample.family);
    for (const char* family :
         {"gemm", "conv", "rnn", "softmax", "layer_norm", "batch_norm", "elementwise", "optimizer", "copy", "launch"})
      CHECK(families.count(family) == 1);
  }
}
