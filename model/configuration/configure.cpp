#include "model/configuration/configure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "model/configuration/edited_inputs.hpp"
#include "model/configuration/framework_arguments/apply_layout_file.hpp"
#include "model/configuration/network_notices.hpp"
#include "model/configuration/read_configuration.hpp"
#include "model/configuration/set_values.hpp"

namespace tbdsim {
namespace {

/// What `plain` reads, without its changes.
Result<std::vector<DocumentRecord>> read_documents(const Catalogue& catalogue, const PredictOptions& plain, bool networks) {
  const auto records = std::make_shared<std::vector<DocumentRecord>>();
  const auto noting = std::make_shared<const Edits>(Edits{{}, records});
  Session reading(Catalogue{catalogue.root, noting, catalogue.architectures}, networks);
  const auto configured = read_configuration(reading, plain);
  if (!configured) return tl::make_unexpected(configured.error());
  if (plain.run)
    if (const auto operations = reading.operations(); !*operations) return tl::make_unexpected(operations->error());
  return std::move(*records);
}

/// Reads what `options` reads without its changes, then resolves them.
Result<EditedInputs> resolved_inputs(Session& session, const PredictOptions& options) {
  // Writing a network of the catalogue as a document takes time: for those who ask for it.
  const bool networks = std::any_of(options.set.begin(), options.set.end(),
                                    [](const std::string& assignment) { return assignment.starts_with("model."); });
  PredictOptions plain = options;
  plain.set.clear();
  const auto documents = session.documents(plain, networks, [&] { return read_documents(session.catalogue(), plain, networks); });
  if (!*documents) return tl::make_unexpected(documents->error());
  auto resolved = resolve_values(options.set, **documents, plain);
  const auto edits = std::make_shared<const Edits>(Edits{std::move(resolved.changes), nullptr});
  return EditedInputs{std::make_shared<Session>(session, edits), std::move(resolved.options), std::move(resolved.notices),
                      std::move(resolved.errors)};
}

JobNumbers numbers_of(const Configuration& job, const PredictOptions& options) {
  JobNumbers numbers{options, job.hardware().gpu_count};
  numbers.stated.gpus = job.gpus;
  numbers.stated.nodes = job.nodes;
  numbers.stated.batch = job.batch;
  if (job.pipeline && job.input_hosts == 0) numbers.stated.workers = std::max(1, job.pipeline->threads / job.pipeline->loaders);
  return numbers;
}

/// Makes the changes of a job's options, and says what became of all values. Errors: of all assignments.
Result<std::vector<std::string>> change_job(Session& session, const EditedInputs& edited, PredictOptions& options) {
  std::vector<std::string> notices = edited.notices;
  std::optional<JobNumbers> before;
  if (need_the_job(edited.options)) {
    const auto job = read_configuration(session, options);
    if (!job) return tl::make_unexpected(job.error());
    before = numbers_of(*job, options);
  }
  const auto changed = change_options(edited.options, before, options, notices);
  Errors errors = edited.errors;
  if (!changed) errors.insert(errors.end(), changed.error().begin(), changed.error().end());
  std::stable_sort(errors.begin(), errors.end(), [](const Error& a, const Error& b) { return a.where.line < b.where.line; });
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  notices.erase(std::remove(notices.begin(), notices.end(), ""), notices.end());
  return notices;
}

}  // namespace

std::shared_ptr<const Result<EditedInputs>> edited_inputs(Session& session, const PredictOptions& options) {
  return session.edited(options, [&] { return resolved_inputs(session, options); });
}

Result<Configuration> configure(Session& session, const PredictOptions& options) {
  if (!options.layout_from.empty()) {
    const auto filled = fill_from_layout_file(session, options);
    if (!filled) return tl::make_unexpected(filled.error());
    return configure(session, filled->options).map([&](Configuration configuration) {
      configuration.notices.insert(configuration.notices.begin(), filled->notices.begin(), filled->notices.end());
      configuration.layout_file = options.layout_from;
      configuration.layout_sha256 = filled->sha256;
      return configuration;
    });
  }
  if (!options.unmodelled.empty())
    return fail(fmt::format("--unmodelled {}: is about settings of --layout-from; add one", options.unmodelled));
  if (options.set.empty()) return read_configuration(session, options);
  const auto inputs = edited_inputs(session, options);
  if (!*inputs) return tl::make_unexpected(inputs->error());
  const EditedInputs& edited = **inputs;
  PredictOptions changed = options;
  changed.set.clear();
  const auto notices = change_job(session, edited, changed);
  if (!notices) return tl::make_unexpected(notices.error());
  return read_configuration(*edited.session, changed).map([&](Configuration configuration) {
    configuration.set = options.set;
    tell_unused_network(*edited.session->catalogue().edits, configuration);
    tell_overlap(*edited.session->catalogue().edits, configuration);
    tell_unused_rdma(*edited.session->catalogue().edits, configuration);
    tell_unused_latency(*edited.session->catalogue().edits, configuration);
    tell_unstated_host_memory(configuration);
    configuration.notices.insert(configuration.notices.begin(), notices->begin(), notices->end());
    return configuration;
  });
}

Result<Operations> configured_operations(Session& session, const PredictOptions& options) {
  if (!options.layout_from.empty())
    return fill_from_layout_file(session, options).and_then([&](const FilledOptions& filled) {
      return configured_operations(session, filled.options);
    });
  if (options.set.empty()) return *session.operations();
  const auto inputs = edited_inputs(session, options);
  if (!*inputs) return tl::make_unexpected(inputs->error());
  return *(**inputs).session->operations();
}

}  // namespace tbdsim
