#pragma once
#include <cstdint>

namespace tbdsim {

/// Elements of the largest array that MXNet's `local` store updates on the host; beyond, every GPU updates all arrays.
/// Source: python/mxnet/model.py (_create_kvstore) of Apache MXNet 0.9 to 1.5.
inline constexpr std::int64_t kLocalStoreUpdates = std::int64_t{16} * 1024 * 1024;

}  // namespace tbdsim
