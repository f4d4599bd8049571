#include "model/study/explain.hpp"

#include "model/cli/command.hpp"
#include "model/report/diagnosis_report.hpp"
#include "model/report/explain_report.hpp"
#include "model/report/json.hpp"
#include "model/report/precision_gain_report.hpp"

namespace tbdsim {
namespace {

std::string formatted(Format format, const Explanation& explanation, const std::optional<PrecisionGain>& gain,
                      const std::optional<Diagnosis>& diagnosis) {
  switch (format) {
    case Format::json:
      return explain_json(explanation, gain, diagnosis);
    case Format::csv:
      return diagnosis ? diagnosis_csv(*diagnosis) : gain ? precision_gain_csv(*gain) : explain_csv(explanation);
    case Format::table:
      break;
  }
  return (diagnosis ? diagnosis_table(*diagnosis) + "\n" : "") + explain_table(explanation) +
         (gain ? precision_gain_table(*gain) : "");
}

}  // namespace

Result<Answer> answer(const ExplainArguments& arguments, Session& session) {
  if (arguments.layers && !arguments.measured.empty() && arguments.format == Format::csv)
    return fail("--layers and --measured have a CSV table each: ask for one, or for --format json");
  const auto explanation = explain(session, arguments.options, arguments.progress);
  if (!explanation) return tl::make_unexpected(explanation.error());
  std::optional<PrecisionGain> gain;
  if (arguments.layers) {
    auto found = precision_gain(session, arguments.options);
    if (!found) return tl::make_unexpected(found.error());
    gain = std::move(*found);
  }
  std::optional<Diagnosis> diagnosis;
  if (!arguments.measured.empty()) {
    auto found = diagnose(session, arguments.options, explanation->base, arguments.measured);
    if (!found) return tl::make_unexpected(found.error());
    diagnosis = std::move(*found);
  }
  const std::vector<std::string>& notices = explanation->base.notices;
  return with_page(
      arguments.report, "explain", [&] { return explain_json(*explanation, gain, diagnosis); },
      Answer{formatted(arguments.format, *explanation, gain, diagnosis), notices});
}

int run(const ExplainArguments& arguments, const Catalogue& catalogue) {
  return deliver(
      with_progress(arguments, [&](const ExplainArguments& shown) { return answer(shown, *open_session(catalogue)); }));
}

}  // namespace tbdsim
