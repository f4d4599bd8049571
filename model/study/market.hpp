#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "model/study/ownership.hpp"

namespace tbdsim {

/// What stands for all hardware that has a price, as `--hw` takes it.
inline constexpr std::string_view kAllHardware = "all";

/// Ids of the catalogue's boards that have a price, and of its machines that have a price or a rent.
[[nodiscard]] std::vector<std::string> priced_hardware(Session& session);

/// A choice among many candidates.
struct MarketChoice {
  Comparison comparison;                ///< the best of each network, best first, held against the best of theirs
  std::size_t tried = 0;                ///< candidates that can be predicted and use all GPUs of the machine that is paid for
  std::size_t affordable = 0;           ///< those that fit the memory and the budget
  std::size_t too_large = 0;            ///< those whose memory does not hold the job
  std::vector<std::size_t> kept;        ///< their places among the candidates that were given
  std::vector<std::string> left_out{};  ///< networks of which no candidate fits the memory and the budget
};

/// The best `most` of the candidates of each network by their terms. Machines of which a part is used are left out: all of them
/// is paid for.
[[nodiscard]] MarketChoice best_of(Session& session, std::vector<Candidate> candidates, const CostTerms& terms, std::size_t most);

/// Where the memory of no candidate holds the job: with which options some do, in a sentence; else empty. Tried: ZeRO 3 with the
/// layers computed again, which takes least of what divides no layer.
[[nodiscard]] std::string what_would_fit(Session& session, const StudyGrid& grid, const std::vector<Candidate>& candidates);

}  // namespace tbdsim
