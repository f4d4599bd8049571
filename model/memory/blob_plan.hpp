#pragma once
#include <vector>

#include "model/memory/lifetime.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// One array of a framework that never gives one back: as large as the largest that it ever held.
struct Blob {
  Bytes bytes;
  MemoryPart part = MemoryPart::feature_maps;
  OpId op;  ///< whose array it is; of several, the largest one's
};

/// The arrays that Caffe2 makes for feature maps and their gradients in one training step, and keeps.
///
/// Every output of a forward operator has an array of its own unless the operator is in place or a view; losses also
/// keep a term for each number that they read. Gradients share arrays: one goes into an array whose gradient nobody
/// needs any more if all that touched it come before it in the graph (branches may run beside each other), of several
/// into that which has been shared most. A tensor that several read gets a gradient from each and one for their sum;
/// additions pass theirs on. The gradient of what a trained operator reads from a part that is not trained is made too.
///
/// Neglects that a batch may need less of an array than another one (regions on each level of a pyramid).
/// Source: pytorch/pytorch caffe2/core/memonger.cc and caffe2/python/core.py.
[[nodiscard]] std::vector<Blob> plan_blobs(const OpGraph& graph, double batch, Bytes element);

}  // namespace tbdsim
