#include <fmt/format.h>

#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/prediction/memory_report.hpp"
#include "model/report/json.hpp"
#include "model/report/memory_batches_report.hpp"

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

std::string formatted(Format format, const MemoryByBatch& table) {
  return format == Format::json  ? memory_batches_json(table)
         : format == Format::csv ? memory_batches_csv(table)
                                 : memory_batches_table(table);
}

Result<Answer> answer_batches(const MemoryArguments& arguments, Session& session) {
  if (arguments.max_batch) return fail("--max-batch searches one job's batch: give --batch one value, or none");
  if (arguments.view != MemoryView::structure)
    return fail("--by layer, type and time break down one batch: give --batch one value, or --by structure");
  constexpr std::size_t kMostRows = 1000;
  if (arguments.batches.size() > kMostRows)
    return fail(fmt::format("--batch: a table of {} batches; at most {} are made", arguments.batches.size(), kMostRows));
  return memory_by_batch(session, arguments.options, arguments.batches).and_then([&](const MemoryByBatch& table) {
    return with_page(
        arguments.report, "memory", [&] { return memory_batches_json(table); },
        Answer{formatted(arguments.format, table), table.notices});
  });
}

}  // namespace

Result<Answer> answer(const MemoryArguments& arguments, Session& session) {
  if (arguments.batches.size() > 1) return answer_batches(arguments, session);
  if (arguments.max_batch && arguments.format == Format::csv && arguments.view != MemoryView::structure)
    return fail("--max-batch and --by have a CSV table each: ask for one, or for --format json");
  PredictOptions options = arguments.options;
  if (!arguments.batches.empty()) options.batch = arguments.batches.front();
  return report_memory(session, options, {arguments.format != Format::csv || arguments.report.asked(), arguments.max_batch})
      .and_then([&](const MemoryReport& report) {
        return with_page(
            arguments.report, "memory", [&] { return memory_json(report); },
            Answer{formatted(arguments, report), report.notices});
      });
}

int run(const MemoryArguments& arguments, const Catalogue& catalogue) {
  return deliver(answer(arguments, *open_session(catalogue)));
}

}  // namespace tbdsim
