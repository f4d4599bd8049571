#pragma once
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "model/prediction/predict.hpp"
#include "model/support/version.hpp"

namespace tbdsim {
struct Comparison;
struct CostTerms;
struct Diagnosis;
struct RunEstimate;
}  // namespace tbdsim

/// What the JSON texts of several verbs share. Included by sources of this folder alone.
namespace tbdsim::json {

using Json = nlohmann::ordered_json;

/// Ranges are the central 80 % everywhere.
constexpr double kLevel = 0.8;

/// Ends the command where a figure is infinite or none: JSON has no word for it, and `null` would say that it is not known.
inline void require_finite(const Json& json, const std::string& path = {}) {
  if (json.is_number_float() && !std::isfinite(json.get<double>()))
    throw std::range_error("the figure " + path + " is not finite; look for an implausible value among the inputs");
  if (!json.is_structured()) return;
  for (const auto& [key, value] : json.items()) require_finite(value, path.empty() ? key : fmt::format("{}.{}", path, key));
}

/// Names may come from a user's file; bytes that are no UTF-8 must not end the program.
inline std::string text(const Json& json) {
  require_finite(json);
  constexpr int kIndent = 2;
  return json.dump(kIndent, ' ', false, Json::error_handler_t::replace) + '\n';
}
inline Json tool() { return {{"name", "tbdsim"}, {"version", version()}}; }
/// Whole bytes; as a real number where 64 bits do not count so many.
inline Json whole(Bytes bytes) {
  constexpr double kMost = 0x1p62;
  if (std::abs(bytes.base()) < kMost) return static_cast<std::int64_t>(std::llround(bytes.base()));
  return bytes.base();
}
inline Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
inline Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
template <int T, int B, int F, int E, int M>
Json or_null(const std::optional<Quantity<T, B, F, E, M>>& value) {
  return value ? Json(value->base()) : Json(nullptr);
}

template <class Q>
Json ranged(const Ranged<Q>& r) {
  return {{"value", r.value.base()}, {"low", r.low.base()}, {"high", r.high.base()}};
}

/// The objects `inputs`, `config`, `parts_bytes`, `memory` and `limit` of a prediction.
Json inputs(const Prediction& prediction);
Json config(const Prediction& prediction);
Json parts(const MemoryParts& parts);
Json memory(const MemoryVerdict& verdict);
Json limit(const Limit& limit);
/// The object `run`: a run over so many tokens.
Json run(const RunEstimate& run);
/// The objects `config.layout` and `communication` of a step that is simulated layer by layer.
Json layout(const Prediction& prediction);
Json communication(const Prediction& prediction);
/// On what terms bought machines are paid for.
Json cost_terms(const CostTerms& terms);
/// Adds the terms that all offers of a comparison share, and what each candidate costs on them, best first.
void add_offers(const Comparison& comparison, const CostTerms& terms, Json& json);
/// Adds the measured speed and the causes that would explain it, most likely first.
void add_diagnosis(const Diagnosis& diagnosis, Json& json);

}  // namespace tbdsim::json
