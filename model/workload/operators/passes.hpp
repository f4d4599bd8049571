#pragma once
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Kernels that reduce along rows have sustained rates of their own.
enum class RowKernel { none, softmax, layer_norm };

/// How often an operator's kernel passes over its inputs and its output. A pass reads or writes every element once.
struct Passes {
  double forward_inputs = 0, forward_output = 0;
  double backward_inputs = 0, backward_output = 0;
  double backward_parameters = 0;  ///< over the operator's own arrays, whatever the batch
  double bandwidth_share = 1.0;    ///< of the sustained bandwidth of its family
  RowKernel rows = RowKernel::none;
  int forward_kernels = 1, backward_kernels = 1;  ///< that a framework composes it of
  Bytes forward_mask{0.0}, backward_mask{0.0};    ///< beside, for each number of the output, however wide that is
};

/// What a framework composes of one kernel or several: facts of a stack on which passes depend.
struct PassFacts {
  bool eager = false;  ///< kernels are issued one by one
  double batch_norm_forward = 0, batch_norm_backward = 0;
  double dropout_forward = 0, dropout_backward = 0;  ///< a fraction is a mask of bytes, counted against 32-bit elements
  double softmax_backward = 0;
  bool composes_rows = false;    ///< RMS norm and gates are chains of elementwise kernels, in fp32 between casts
  bool composes_rotary = false;  ///< rotary embedding is
  bool narrow = false;           ///< elements have 16 bits
  bool broadcasts = false;       ///< the second operand has fewer elements than the first
};

}  // namespace tbdsim
