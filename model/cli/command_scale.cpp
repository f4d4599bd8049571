#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/configuration/session.hpp"
#include "model/input/value_list.hpp"
#include "model/report/scale_report.hpp"

namespace tbdsim {
namespace {

std::string formatted(Format format, const ScaleTable& table) {
  switch (format) {
    case Format::json:
      return scale_json(table);
    case Format::csv:
      return scale_csv(table);
    case Format::table:
      break;
  }
  return scale_text(table);
}

Result<std::vector<std::string>> names(const char* option, const std::string& text) {
  return text.empty() ? Result<std::vector<std::string>>() : parse_word_list(option, text);
}

}  // namespace

Result<Answer> answer(const ScaleArguments& arguments, Session& session) {
  if (arguments.weak && arguments.fixed_global_batch)
    return fail("--weak and --fixed-global-batch exclude each other: one grows the data set, the other keeps the batch");
  const auto models = names("--model", arguments.options.model), exchanges = names("--exchange", arguments.options.exchange);
  for (const auto* list : {&models, &exchanges})
    if (!*list) return tl::make_unexpected(list->error());
  ScaleOptions options{arguments.options, arguments.gpus,    arguments.nodes, arguments.samples.value_or(0),
                       Scaling::strong,   arguments.progress};
  if (arguments.weak) options.scaling = Scaling::weak;
  if (arguments.fixed_global_batch) options.scaling = Scaling::fixed_global_batch;
  return scale_table(session, options, {*models, *exchanges, arguments.batches, arguments.images})
      .and_then([&](const ScaleTable& table) {
        return with_page(
            arguments.report, "scale", [&] { return scale_json(table); },
            Answer{formatted(arguments.format, table), table.notices});
      });
}

int run(const ScaleArguments& arguments, const Catalogue& catalogue) {
  return deliver(with_progress(arguments, [&](const ScaleArguments& shown) { return answer(shown, *open_session(catalogue)); }));
}

}  // namespace tbdsim
