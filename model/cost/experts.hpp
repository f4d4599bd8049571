#pragma once
#include "model/cost/kernel_rates.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/hardware/row_constants.hpp"

namespace tbdsim {

/// The experts of one rank: each takes some of the rows through products (rows, hidden) -> inner, twice as wide where gated, and
/// back.
struct ExpertShape {
  double tokens = 1;  ///< of all ranks that route to these experts: moved by routing and combination
  double hidden = 1, inner = 1;
  double rows = 1;     ///< of this rank: tokens x experts of a token over ranks, or those of the rank that has most
  double experts = 1;  ///< of this rank
  bool gated = true;
};

/// One product of every expert of a rank: its rows of `k` features make rows of `n`.
struct GroupedProduct {
  double experts = 1, rows = 1;  ///< of all experts together
  double n = 1, k = 1;
};

/// The part of `expert_time` that one of its grouped products has, with its share of the start and of the activations:
///
///   forward, gradient of the rows (n and k change places): T + activations x rows (n + k) b / rate
///   gradient of the weights: the same of products (n, k) over m rows, whose results are written where weights were read
///
/// No gradient was measured: both passes have the constants of the forward one.
[[nodiscard]] KernelTimeModel grouped_product_time(const GroupedProduct& product, bool weight_gradient, Bytes element,
                                                   const ExpertConstants& constants, const KernelRates& rates);

/// Routing, two grouped products with the activation between them, and combination on one rank (CUTLASS grouped kernels):
///
///   E = min(experts, rows), m = rows / E
///   each product (n, k): the least over tiles tm x tn of (C^3 + R^3)^(1/3)
///     C = ceil(E ceil(m/tm) ceil(n/tn) / SMs) 2 tm tn (k + prologue) (1 + penalty (tm + tn)/(tm tn)) SMs / (share F)
///     R = E n k b / rate + reread (ceil(m/tm) - 1) E n k b / B / (1 + (cache / (n k b))^4)
///   A = activations x (4 tokens hidden + rows hidden (2 b + 4) + rows inner (4 [8] + 2 b)) / rate
///   t = start + T1 + T2 + A
///
/// `weight` bytes of a weight, of which 1 multiplies at twice the rate. Rows are taken to spread evenly over the experts; a rank
/// that has more of them is described by its own rows. Neglects: exchange between ranks.
[[nodiscard]] KernelTimeModel expert_time(const ExpertShape& shape, Bytes weight, const ExpertConstants& constants,
                                          const KernelRates& rates);

}  // namespace tbdsim
