#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/cli/arguments.hpp"
#include "model/configuration/option_table.hpp"

// Each reads the text of an option into its target and returns what was expected instead, or nothing if it is fine.
namespace tbdsim {

/// "1,2,4,8", "1..8" or "4..128*2". Returns what is wrong, in full.
[[nodiscard]] std::string set_counts(std::vector<int>& counts, const OptionRow& row, const std::string& text);

/// "1PB".
[[nodiscard]] std::string set_bytes(std::optional<Bytes>& bytes, const std::string& text);

/// "1281167", "256K" (thousands) or "2M".
[[nodiscard]] std::string set_samples(std::optional<std::int64_t>& samples, const std::string& asked);

/// "15T", "300B" or "1.5e12": a number above 0.
[[nodiscard]] std::string set_tokens(std::optional<double>& tokens, const std::string& text);

/// "8 %" or 0.08. A bare number of 1 or more can only be meant in percent, and half the time it is not: the unit decides.
[[nodiscard]] std::string set_share(std::optional<double>& share, const std::string& text);

/// "40000 USD", "40,000", "40k USD", "$40000" or "2 MUSD"; absent: none of these.
[[nodiscard]] std::optional<Usd> read_money(const std::string& text);

/// An amount as `read_money` takes it; "3" years; "0.2 USD/kWh" or 0.2; "60 %", at most all of the time; a factor of at least 1;
/// "cost", "time" or "energy". Into terms that are there from then on.
[[nodiscard]] std::string set_budget(std::optional<CostTerms>& terms, const std::string& text);
[[nodiscard]] std::string set_years(std::optional<CostTerms>& terms, const std::string& text);
[[nodiscard]] std::string set_power_price(std::optional<CostTerms>& terms, const std::string& text);
[[nodiscard]] std::string set_duty(std::optional<CostTerms>& terms, const std::string& text);
[[nodiscard]] std::string set_cooling(std::optional<CostTerms>& terms, const std::string& text);
[[nodiscard]] std::string set_objective(std::optional<CostTerms>& terms, const std::string& text);

/// "2/8": the second of eight shards.
[[nodiscard]] std::string set_shard(std::size_t& shard, std::size_t& shards, const std::string& text);

/// "table", "json" or "csv".
[[nodiscard]] std::string set_format(Format& format, const std::string& text);

/// "structure", "layer", "type" or "time".
[[nodiscard]] std::string set_view(MemoryView& view, const std::string& text);

}  // namespace tbdsim
