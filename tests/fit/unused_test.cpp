// Samples that no parameter is fitted to, and why.
#include "calibrate/fit/unused.hpp"

#include "calibrate/fit/observations.hpp"
#include "calibrate/fit/recurrent_family.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

TEST_CASE("passes and cells that no form knows are no other kernel's") {
  Sample layer;
  layer.family = layer.op = "rnn";
  layer.precision = "fp32";
  layer.flags = "skip-input";
  layer.kind = "lstm";
  layer.time = Seconds(1e-3);
  layer.shape = {{"input", 512}, {"hidden", 512}, {"batch", 16}, {"steps", 25}, {"layers", 1}, {"directions", 1}};
  Sample convolution;
  convolution.family = convolution.op = "conv";
  convolution.precision = "fp32";
  convolution.time = Seconds(1e-3);
  convolution.shape = {{"n", 16},       {"c", 64},       {"h", 28},    {"w", 28},    {"k", 64},       {"r", 3},     {"s", 3},
                       {"stride_h", 1}, {"stride_w", 1}, {"pad_h", 1}, {"pad_w", 1}, {"dilation", 1}, {"groups", 1}};
  for (const std::string_view pass : sample_passes()) {
    INFO(pass);
    layer.pass = convolution.pass = pass;
    const bool single = pass == "forward" || pass == "backward_data" || pass == "backward_weights";
    CHECK(recurrent_observation(layer).has_value() == (single || pass == "backward"));
    CHECK(convolution_observation(convolution).has_value() == single);
    CHECK(unused_samples({layer}).empty() == (single || pass == "backward"));
    CHECK(unused_samples({convolution}).empty() == single);
  }
}

TEST_CASE("kernels that frameworks do not launch are no measure of theirs") {
  Sample rows;
  rows.family = rows.op = "softmax";
  rows.precision = "fp32";
  rows.pass = "forward";
  rows.time = Seconds(1e-3);
  rows.shape = {{"rows", 4096}, {"cols", 1024}};
  CHECK(unused_samples({rows}).empty());
  rows.flags = "cold stand-in";
  REQUIRE(unused_samples({rows}).size() == 1);
  CHECK(unused_samples({rows}).front().reason == "frameworks have kernels of their own; other boards' samples of those serve");
}
