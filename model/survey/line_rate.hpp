#pragma once
#include <functional>
#include <optional>

#include "model/configuration/configuration.hpp"

namespace tbdsim {

/// The same job on a network of another line rate, and its protocol efficiency, also TCP's beside another transport. Expects a
/// network.
[[nodiscard]] Configuration at_rate(Configuration configuration, BytesPerSecond rate);

/// The fastest line rate that is tried.
inline constexpr BytesPerSecond kFastestRate(1e13);

/// Least line rate of the network, from 1 MB/s to 10 TB/s and to 1 %, at which a step takes no longer than `longest`; nullopt if
/// none does. More bandwidth never slows a step. Errors: those of `step_of`.
[[nodiscard]] Result<std::optional<BytesPerSecond>> least_rate(
    const Configuration& configuration, Seconds longest, const std::function<Result<Seconds>(const Configuration&)>& step_of);

}  // namespace tbdsim
