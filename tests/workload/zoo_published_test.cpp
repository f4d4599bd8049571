#include <cmath>
#include <string>

#include "model/workload/op_counts.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"
#include "tests/workload/reference_tables.hpp"

using namespace tbdsim;

namespace {

OpGraph build(const std::string& name, const std::string& image) {
  const auto entry = find_network(name, "");
  if (!entry) FAIL(to_text(entry.error()));
  ZooOptions options;
  if (!image.empty()) options.image = std::stoi(image);
  auto graph = build_network(**entry, options);
  if (!graph) FAIL(to_text(graph.error()));
  return std::move(*graph);
}

/// Multiply-adds as fvcore counts them, whose figures timm prints: two for each element of a batch norm, five of a layer norm.
double with_norms(const OpGraph& graph) {
  double count = static_cast<double>(macs_per_sample(graph).forward);
  for (const Op& op : graph.ops)
    count += (op.kind == OpKind::batch_norm   ? 2.0
              : op.kind == OpKind::layer_norm ? 5.0
                                              : 0.0) *
             static_cast<double>(elements(graph.output_shape(op)));
  return count;
}

}  // namespace

// published.csv: `counted` rows are counts of real modules (torchvision 0.14 under PyTorch 1.13) or sums over published layers,
// and hold exactly. `printed` rows are figures as timm prints them, in millions and thousand millions with two decimals.
TEST_CASE("networks have the published parameters and multiply-adds") {
  for (const reference::Row& row : reference::read("published.csv")) {
    INFO(row.at("network"));
    const OpGraph graph = build(row.at("network"), row.at("image"));
    if (row.at("kind") == "counted") {
      CHECK(graph.parameter_elements() == std::stoll(row.at("parameters")));
      if (!row.at("forward_macs").empty()) CHECK(macs_per_sample(graph).forward == std::stoll(row.at("forward_macs")));
      if (!row.at("backward_macs").empty()) CHECK(macs_per_sample(graph).backward == std::stoll(row.at("backward_macs")));
    } else {
      REQUIRE(row.at("kind") == "printed");
      CHECK(std::abs(static_cast<double>(graph.parameter_elements()) - std::stod(row.at("parameters"))) <= 5001);
      if (row.at("forward_macs").empty()) continue;
      const double macs = std::stod(row.at("forward_macs"));
      CHECK(std::abs(with_norms(graph) - macs) <= std::max(0.02 * macs, 5.1e6));
    }
  }
}
