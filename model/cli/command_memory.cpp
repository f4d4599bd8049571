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
      return memory_csv(report, arguments.view);
    case Format::table:
      break;
  }
  return memory_table(report, arguments.view);
}

}  // namespace

int run(const MemoryArguments& arguments, const Catalogue& catalogue) {
  const auto session = open_session(catalogue);
  const auto memory = report_memory(*session, arguments.options, {arguments.format != Format::csv, arguments.max_batch});
  if (!memory) return report(memory.error());
  report_notices(memory->notices);
  return write_result(formatted(arguments, *memory));
}

}  // namespace tbdsim
