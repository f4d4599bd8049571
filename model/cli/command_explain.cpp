#include "model/analysis/explain.hpp"

#include "model/cli/command.hpp"
#include "model/report/explain_report.hpp"
#include "model/report/json.hpp"

namespace tbdsim {

Result<Answer> answer(const ExplainArguments& arguments, Session& session) {
  const auto explanation = explain(session, arguments.options);
  if (!explanation) return tl::make_unexpected(explanation.error());
  switch (arguments.format) {
    case Format::json:
      return Answer{explain_json(*explanation), explanation->base.notices};
    case Format::csv:
      return Answer{explain_csv(*explanation), explanation->base.notices};
    case Format::table:
      break;
  }
  return Answer{explain_table(*explanation), explanation->base.notices};
}

int run(const ExplainArguments& arguments, const Catalogue& catalogue) {
  return deliver(answer(arguments, *open_session(catalogue)));
}

}  // namespace tbdsim
