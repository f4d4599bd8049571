#include "model/prediction/longest_sequence.hpp"

#include <fmt/format.h>

#include "model/configuration/configure.hpp"
#include "model/workload/zoo/length_distribution.hpp"

namespace tbdsim {

Result<std::optional<Configuration>> with_longest_sequences(Session& session, const PredictOptions& options,
                                                            const Configuration& configuration) {
  const LengthDistribution* const lengths = lengths_of(configuration.network_graph().graph.name);
  if (options.seq_len || lengths == nullptr || configuration.by_layers()) return std::nullopt;
  PredictOptions longest = options;
  longest.buckets = false;
  longest.seq_len = lengths->longest;
  auto configured = configure(session, longest);
  if (!configured) return tl::make_unexpected(std::move(configured.error()));
  configured->notices.push_back(
      fmt::format("memory is that of the data set's longest sequences, as with --seq-len {}; its mean length sets the time",
                  lengths->longest));
  return std::move(*configured);
}

Result<Configuration> configure_for_memory(Session& session, const PredictOptions& options) {
  auto configured = configure(session, options);
  if (!configured) return configured;
  auto longest = with_longest_sequences(session, options, *configured);
  if (!longest) return tl::make_unexpected(std::move(longest.error()));
  if (*longest) return std::move(**longest);
  return configured;
}

}  // namespace tbdsim
