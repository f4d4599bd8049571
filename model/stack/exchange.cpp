#include "model/stack/exchange.hpp"

#include <algorithm>
#include <array>

#include "model/support/edit_distance.hpp"
#include "model/support/enum_table.hpp"

namespace tbdsim {
namespace {

using Place = ExchangePlace;
using Buffers = ExchangeBuffers;
constexpr std::nullopt_t kEvery = std::nullopt;

// name, framework; who sums, who updates; what memory it takes on GPUs; one process; parameter servers; sums on the host
constexpr std::array<ExchangeInfo, 8> kRows{{
    {Exchange::allreduce, "allreduce", kEvery, Place::ranks, Place::ranks, Buffers::buckets, false, false, false},
    {Exchange::nccl, "nccl", Framework::mxnet, Place::first_gpu, Place::first_gpu, Buffers::root_store, true, false, false},
    {Exchange::p2p, "p2p", Framework::mxnet, Place::home_gpus, Place::home_gpus, Buffers::home_store, true, false, false},
    {Exchange::local, "local", Framework::mxnet, Place::host, Place::host, Buffers::host_store, true, false, true},
    {Exchange::ps, "ps", kEvery, Place::servers, Place::servers, Buffers::home_merges, true, true, true},
    {Exchange::ps_p3, "ps-p3", Framework::mxnet, Place::servers, Place::servers, Buffers::home_merges, true, true, true},
    // Workers reduce-scatter inside a node, push their shares to servers that only add up, and update by themselves: on a GPU it
    // takes what an all-reduce takes. Source: bytedance/byteps docs/architecture.md.
    {Exchange::byteps, "byteps", kEvery, Place::servers, Place::ranks, Buffers::buckets, false, false, false},
    {Exchange::dataparallel, "dataparallel", Framework::pytorch, Place::first_gpu, Place::first_gpu, Buffers::first_gpu, true,
     false, false},
}};
static_assert(rows_in_order(kRows));

}  // namespace

std::span<const ExchangeInfo> exchanges() { return kRows; }

const ExchangeInfo& info(Exchange exchange) { return kRows[static_cast<std::size_t>(exchange)]; }

std::optional<Exchange> parse_exchange(std::string_view word) {
  const auto* const row =
      std::find_if(kRows.begin(), kRows.end(), [&](const ExchangeInfo& each) { return fold_name(each.name) == fold_name(word); });
  return row == kRows.end() ? std::nullopt : std::optional(row->kind);
}

}  // namespace tbdsim
