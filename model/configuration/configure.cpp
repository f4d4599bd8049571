#include "model/configuration/configure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/configuration/edited_inputs.hpp"
#include "model/configuration/network_notices.hpp"
#include "model/configuration/read_configuration.hpp"
#include "model/configuration/row_options.hpp"
#include "model/configuration/set_values.hpp"
#include "model/configuration/what_if.hpp"

namespace tbdsim {
namespace {

/// Reads what `options` reads without its changes, then resolves them.
Result<EditedInputs> resolved_inputs(const Catalogue& catalogue, const PredictOptions& options) {
  const auto records = std::make_shared<std::vector<DocumentRecord>>();
  // Writing a network of the catalogue as a document takes time: for those who ask for it.
  const bool networks = std::any_of(options.set.begin(), options.set.end(),
                                    [](const std::string& assignment) { return assignment.starts_with("model."); });
  const auto noting = std::make_shared<const Edits>(Edits{{}, records});
  Session reading(Catalogue{catalogue.root, noting, catalogue.architectures}, networks);
  PredictOptions plain = options;
  plain.set.clear();
  const auto configured = read_configuration(reading, plain);
  if (!configured) return tl::make_unexpected(configured.error());
  plain.gpus = configured->gpus;
  plain.nodes = configured->nodes;
  plain.batch = configured->batch;
  if (configured->pipeline && configured->input_hosts == 0)
    plain.workers = std::max(1, configured->pipeline->threads / configured->pipeline->loaders);
  auto resolved = resolve_values(options.set, *records, plain);
  if (!resolved) return tl::make_unexpected(resolved.error());
  fill_nodes(*configured, resolved->parallel);
  const auto edits = std::make_shared<const Edits>(Edits{std::move(resolved->changes), nullptr});
  return EditedInputs{std::make_shared<Session>(Catalogue{catalogue.root, edits, catalogue.architectures}),
                      std::move(resolved->parallel), std::move(resolved->notices)};
}

/// Sets the options of the job that `edited` changes. Errors: a value that the option does not take.
Result<void> apply_parallel(const EditedInputs& edited, PredictOptions& options) {
  RowSettings row;
  row.options = options;
  row.options.devices.clear();
  Errors errors;
  bool devices = false;
  for (const auto& [option, value] : edited.parallel) {
    devices = devices || option == "--devices";
    std::set<std::string> given;
    for (std::string& message : apply_row_options(fmt::format("{}='{}'", option, value), row, given))
      errors.push_back(Error{std::move(message)});
  }
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  if (!devices) row.options.devices = options.devices;
  options = std::move(row.options);
  return {};
}

}  // namespace

std::shared_ptr<const Result<EditedInputs>> edited_inputs(Session& session, const PredictOptions& options) {
  return session.edited(options, [&] { return resolved_inputs(session.catalogue(), options); });
}

Result<Configuration> configure(Session& session, const PredictOptions& options) {
  if (options.set.empty()) return read_configuration(session, options);
  const auto inputs = edited_inputs(session, options);
  if (!*inputs) return tl::make_unexpected(inputs->error());
  const EditedInputs& edited = **inputs;
  PredictOptions changed = options;
  changed.set.clear();
  if (const auto applied = apply_parallel(edited, changed); !applied) return tl::make_unexpected(applied.error());
  return read_configuration(*edited.session, changed).map([&](Configuration configuration) {
    configuration.set = options.set;
    tell_unused_network(*edited.session->catalogue().edits, configuration);
    tell_unused_rdma(*edited.session->catalogue().edits, configuration);
    configuration.notices.insert(configuration.notices.begin(), edited.notices.begin(), edited.notices.end());
    return configuration;
  });
}

}  // namespace tbdsim
