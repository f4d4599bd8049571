// Networks exported from PyTorch against the counts that PyTorch measured on the same modules, and against the catalogue.
#include <filesystem>

#include "model/configuration/session.hpp"
#include "model/input/mapped_file.hpp"
#include "model/prediction/predict.hpp"
#include "model/workload/onnx_import.hpp"
#include "model/workload/op_counts.hpp"
#include "model/workload/saved_tensors.hpp"
#include "tests/catch.hpp"
#include "tests/workload/reference_tables.hpp"

using namespace tbdsim;

namespace {

std::string path_of(const std::string& name) {
  return std::string(TBDSIM_SOURCE_DIR) + "/tests/data/networks/onnx/" + name + ".onnx";
}

ImportedNetwork import(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) FAIL(to_text(file.error()));
  auto network = import_onnx(file->bytes(), path, "x", {});
  if (!network) FAIL(to_text(network.error()));
  return std::move(*network);
}

}  // namespace

TEST_CASE("imported networks count what PyTorch counts in a real training step") {
  int networks = 0;
  for (const reference::Row& row : reference::read("torch_reference.csv")) {
    const std::string& name = row.at("network");
    INFO(name);
    ++networks;
    const ImportedNetwork network = import(path_of(name));
    CHECK(network.notices.empty());
    CHECK(network.extra_spread == 0.0);
    CHECK(network.graph.parameter_elements() == std::stoll(row.at("params")));
    const MacCounts macs = macs_per_sample(network.graph);
    CHECK(macs.forward == std::stoll(row.at("forward_macs_per_sample")));
    CHECK(macs.backward == std::stoll(row.at("backward_macs_per_sample")));
    const SavedBytes saved = saved_bytes(network.graph, SavingRules::autograd);
    CHECK(saved.per_sample.base() == std::stod(row.at("autograd_saved_bytes_per_sample")));
    CHECK(saved.fixed.base() == std::stod(row.at("autograd_saved_bytes_fixed")));
  }
  CHECK(networks == 9);
}

TEST_CASE("an imported network and the catalogue's predict the same step") {
  Session session{Catalogue{TBDSIM_SOURCE_DIR, nullptr}};
  for (const reference::Row& row : reference::read("torch_reference.csv")) {
    INFO(row.at("network"));
    for (const char* precision : {"fp32", "amp"}) {
      PredictOptions options;
      options.hardware = "v100-sxm2-16gb";
      options.precision = precision;
      options.stack = "pytorch-1.13";  // the exporter's; later ones run nn.MultiheadAttention as one operator
      options.model = row.at("network");
      const auto zoo = predict(session, options);
      options.model = path_of(row.at("network"));
      const auto imported = predict(session, options);
      if (!zoo) FAIL(to_text(zoo.error()));
      if (!imported) FAIL(to_text(imported.error()));
      CHECK_THAT(imported->step_time.value / zoo->step_time.value, Catch::WithinAbs(1.0, 0.01));
      CHECK(imported->job.optimizer == zoo->job.optimizer);
    }
  }
}

TEST_CASE("what export_onnx.py writes of PyTorch modules is read back with all its parameters") {
  const auto exported = [](const char* name) {
    return import(std::string(TBDSIM_SOURCE_DIR) + "/tests/data/onnx/torch_" + name + ".onnx");
  };
  const auto kinds = [](const OpGraph& graph, OpKind kind) {
    int count = 0;
    for (const Op& op : graph.ops) count += op.kind == kind ? 1 : 0;
    return count;
  };
  // Parameters as PyTorch counts them (torch_modules.py says what the modules are); no operator is left unknown.
  for (const auto& [name, parameters] : {std::pair{"cnn", 20170}, std::pair{"encoder", 229992}, std::pair{"lstm", 182149}}) {
    INFO(name);
    const ImportedNetwork network = exported(name);
    CHECK(network.graph.parameter_elements() == parameters);
    CHECK(network.notices.empty());
  }
  CHECK(kinds(exported("cnn").graph, OpKind::group_norm) == 1);
  const OpGraph encoder = exported("encoder").graph;
  CHECK(kinds(encoder, OpKind::layer_norm) == 4);
  CHECK(kinds(encoder, OpKind::linear) == 2 * 4 + 1);
  CHECK(kinds(encoder, OpKind::activation) == 2);
  CHECK(kinds(exported("lstm").graph, OpKind::lstm) == 1);
}
