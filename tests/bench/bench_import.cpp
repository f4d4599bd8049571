// Goals set on: AMD EPYC (family 26), 2 cores of a shared virtual machine, GCC 12, Release.
#include <fmt/core.h>

#include <string>

#include "model/input/mapped_file.hpp"
#include "model/workload/onnx_import.hpp"
#include "tests/bench/bench.hpp"
#include "tests/workload/onnx_bytes.hpp"

namespace tbdsim::bench {

namespace {

constexpr int kRuns = 20;

/// A convolution and a ReLU, and again, as many nodes as asked.
std::string chain(int nodes) {
  onnx_bytes::File file;
  file.input("x0", {"N", 16, 32, 32});
  std::string last = "x0";
  for (int i = 0; i < nodes / 2; ++i) {
    const std::string n = std::to_string(i);
    file.weight("conv" + n + ".weight", {16, 16, 3, 3});
    file.node("Conv", {last, "conv" + n + ".weight"}, {"c" + n}, {onnx_bytes::list("pads", {1, 1, 1, 1})});
    file.node("Relu", {"c" + n}, {"r" + n});
    last = "r" + n;
  }
  return file.output(last).bytes();
}

}  // namespace

/// Reading networks from ONNX files, from the file to the operators.
void bench_import(Report& report) {
  for (const char* network : {"resnet50", "transformer_encoder", "lstm_seq2seq"}) {
    const std::string path = fmt::format("{}/tests/data/networks/onnx/{}.onnx", TBDSIM_SOURCE_DIR, network);
    report.time(fmt::format("import {}.onnx", network), Seconds(10e-3), kRuns,
                [&] { keep(import_onnx(MappedFile::open(path)->bytes(), path, network, {})); });
  }
  const std::string thousand = chain(1000), many = chain(100000);
  report.time("import 1,000 nodes", Seconds(50e-3), kRuns, [&] { keep(import_onnx(thousand, "x.onnx", "x", {})); });
  report.time("import 100,000 nodes", Seconds(5.0), 3, [&] { keep(import_onnx(many, "x.onnx", "x", {})); });
}

}  // namespace tbdsim::bench
