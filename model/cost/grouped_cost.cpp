// Grouped products of experts, as the cost of a node.
#include <utility>

#include "model/cost/experts.hpp"
#include "model/cost/kernel_model.hpp"

namespace tbdsim {

NodeCost KernelModel::grouped_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const {
  const auto& attributes = std::get<GroupedLinearAttributes>(op.attributes);
  const Shape& x = graph.input_shape(op);
  const auto in = static_cast<double>(x.back()), out = static_cast<double>(graph.output_shape(op).back());
  GroupedProduct product{static_cast<double>(attributes.experts), batch * static_cast<double>(x.front()), out, in};
  if (pass == Pass::backward_data) std::swap(product.n, product.k);
  NodeCost result;
  result.family = KernelFamily::experts;
  result.tensor_core = tensor_core_;
  result.kernel = grouped_product_time(product, pass == Pass::backward_weights, element_, expert_constants_, expert_rates_);
  // Forward the product adds the bias; its gradient is a sum over the rows.
  if (attributes.bias && pass == Pass::backward_weights)
    append(result.kernel, streamed(product.rows * out, stack_.operators.loads.compiles_kernels));
  return result;
}

}  // namespace tbdsim
