#include "model/analysis/memory_report.hpp"
#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/report/json.hpp"

namespace tbdsim {
namespace {

std::string formatted(const MemoryArguments& arguments, const MemoryReport& report) {
  switch (arguments.format) {
    case Format::json:
      return memory_json(report);
    case Format::csv:
      return report.largest ? largest_batch_csv(*report.largest) : memory_csv(report, arguments.view);
    case Format::table:
      break;
  }
  return memory_table(report, arguments.view);
}

}  // namespace

Result<Answer> answer(const MemoryArguments& arguments, Session& session) {
  if (arguments.max_batch && arguments.format == Format::csv && arguments.view != MemoryView::structure)
    return fail("--max-batch and --by have a CSV table each: ask for one, or for --format json");
  return report_memory(session, arguments.options, {arguments.format != Format::csv, arguments.max_batch})
      .map([&](const MemoryReport& report) {
        return Answer{formatted(arguments, report), report.notices};
      });
}

int run(const MemoryArguments& arguments, const Catalogue& catalogue) {
  return deliver(answer(arguments, *open_session(catalogue)));
}

}  // namespace tbdsim
