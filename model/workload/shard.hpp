#pragma once
#include "model/support/result.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// What one rank computes of a network whose layers are divided over the tensor and context axes of `layout`, with the
/// collectives that this takes as operators between the others. Pipeline and data axes leave the graph as it is.
///
/// Tensor axis, as Megatron does it: a linear layer that reads a whole tensor makes a share of its outputs (its columns are
/// divided, as are whole attention heads); the next one reads shares and makes a part of a sum (its rows are divided). The sum is
/// an all-reduce, whose backward is nothing, and the whole tensor's way to the columns is nothing, whose backward is an
/// all-reduce. What lies between works on shares; norms, residual sums and dropout on them are computed on every rank. Under
/// sequence parallelism these work on a share of the positions: the sum is a reduce-scatter, whose backward is an all-gather, and
/// the way to the columns is an all-gather, whose backward is a reduce-scatter. Tables of words are divided by words, and the
/// loss is computed on shares of the scores. Extents that do not divide are rounded up, as Megatron pads its vocabulary.
///
/// Context axis: every tensor holds a share of the positions; attention gathers the keys and values of all ranks (or passes them
/// round, which moves as much), and each rank has queries from both ends of the sequence, so that causal work is even. Where the
/// layout exchanges heads, an all-to-all before attention gives each rank all positions of a share of the heads, and another one
/// behind it gives them back.
/// Sources: Shoeybi et al., arXiv:1909.08053; Korthikanti et al., arXiv:2205.05198; Liu et al., arXiv:2310.01889; Jacobs et al.,
/// arXiv:2309.14509.
///
/// Expects positive extents of the layout. Errors: no attention in the network; heads or positions that do not divide; a context
/// axis where attention is not one operator.
[[nodiscard]] Result<OpGraph> shard(const OpGraph& graph, const Layout& layout);

/// Whether sequence parallelism finds positions to divide: those of some layer, after the context axis, divide over the tensor
/// axis. True of what `shard` refuses for other reasons: extents below 1, networks without attention.
[[nodiscard]] bool positions_divide(const OpGraph& graph, const Layout& layout);
/// What is said where they do not.
[[nodiscard]] std::string undivided_positions(const OpGraph& graph, const Layout& layout);

}  // namespace tbdsim
