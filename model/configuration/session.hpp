#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/configuration/predict_options.hpp"
#include "model/hardware/cluster.hpp"
#include "model/hardware/kernel_constants.hpp"
#include "model/hardware/price.hpp"
#include "model/input/edits.hpp"
#include "model/stack/nccl.hpp"
#include "model/stack/stack.hpp"
#include "model/support/result.hpp"
#include "model/workload/training_step.hpp"
#include "model/workload/zoo/zoo.hpp"

namespace tbdsim {

/// A network with its training step.
struct Workload {
  OpGraph graph;
  TrainingStep step;
  std::string file, sha256;            ///< of a user's network file; the digest also of a network with changed values
  std::vector<std::string> notices{};  ///< what reading the file had to guess
  double extra_spread = 0.0;           ///< added to the range for it
  bool takes_sizes = false;            ///< the file leaves sizes open that `--image` and `--seq-len` give
  std::string stored_type{};  ///< in which the weights of the file are kept, as it says it: "bfloat16"; empty: it does not
};

/// Whether `--model` means a file that another program wrote, ONNX or Hugging Face's config.json, rather than a network of the
/// catalogue or of the TOML format.
[[nodiscard]] bool is_imported_file(std::string_view name);

/// Errors of the release of NCCL that a stack's file names, with that file.
[[nodiscard]] Errors in_stack(const Stack& stack, Errors errors);

/// What `--set` asks, resolved against the documents that a configuration reads (`edited_inputs.hpp`).
struct EditedInputs;

/// What is assumed of a run beyond its step (`hardware/operations.hpp`).
struct Operations;

/// What a framework's file says of a job (`framework_arguments/layout_file.hpp`).
struct LayoutFile;

/// Files read and networks built once, shared by many predictions (a table of thousands of rows, a sweep).
/// Safe to use from several threads at once.
class Session {
 public:
  /// `notes_networks`: where documents are noted, those that networks of the catalogue would be are noted, too.
  explicit Session(Catalogue catalogue, bool notes_networks = false);
  /// A session of changed documents, `edits`. What they leave as it is comes from `unchanged`, which lives longer.
  Session(Session& unchanged, std::shared_ptr<const Edits> edits);

  [[nodiscard]] const Catalogue& catalogue() const { return catalogue_; }
  [[nodiscard]] std::shared_ptr<const Result<System>> system(const std::string& name, int gpus);
  [[nodiscard]] std::shared_ptr<const Result<Network>> network(const std::string& name);
  [[nodiscard]] std::shared_ptr<const Result<Stack>> stack(const std::string& name);
  /// The newest catalogued PyTorch that supports the device; of another vendor, its own stack.
  [[nodiscard]] std::shared_ptr<const Result<Stack>> default_stack(const Device& device);
  [[nodiscard]] std::shared_ptr<const Result<Workload>> workload(const std::string& name, const std::string& variant,
                                                                 const ZooOptions& options);
  [[nodiscard]] std::shared_ptr<const Result<KernelConstants>> constants();
  [[nodiscard]] std::shared_ptr<const Result<std::vector<Price>>> prices();
  /// The collective library; an empty version is the library's default.
  [[nodiscard]] std::shared_ptr<const Result<NcclLibrary>> nccl(const std::string& version, const std::string& architecture);
  /// hardware/operations.toml, read when a run is asked about.
  [[nodiscard]] std::shared_ptr<const Result<Operations>> operations();
  /// A file of a framework's settings, of `--layout-from`.
  [[nodiscard]] std::shared_ptr<const Result<LayoutFile>> layout_file(const std::string& path);
  /// Documents that a configuration of `options` reads without its changes, which `make` reads when they are asked for first;
  /// `networks`: those that networks of the catalogue would be, too.
  [[nodiscard]] std::shared_ptr<const Result<std::vector<DocumentRecord>>> documents(
      const PredictOptions& options, bool networks, const std::function<Result<std::vector<DocumentRecord>>()>& make);
  /// Inputs with the values of `options.set` in place, which `make` makes when they are asked for first.
  [[nodiscard]] std::shared_ptr<const Result<EditedInputs>> edited(const PredictOptions& options,
                                                                   const std::function<Result<EditedInputs>()>& make);

 private:
  template <class Value>
  using Cache = std::map<std::string, std::shared_ptr<const Result<Value>>>;
  template <class Value, class Make>
  std::shared_ptr<const Result<Value>> cached(Cache<Value>& cache, const std::string& key, const Make& make,
                                              bool keeps_errors = true);
  /// Whether no change is of documents of this role or below it, and another session has them.
  [[nodiscard]] bool unchanged(std::string_view role) const;

  Catalogue catalogue_;
  bool notes_networks_ = false;
  Session* unchanged_ = nullptr;
  std::mutex mutex_;
  Cache<System> systems_;
  Cache<Network> networks_;
  Cache<Stack> stacks_;
  Cache<Workload> workloads_;
  Cache<KernelConstants> constants_;
  Cache<NcclLibrary> nccl_;
  Cache<std::vector<DocumentRecord>> documents_;
  Cache<EditedInputs> edited_;
  Cache<LayoutFile> layout_files_;
  Cache<Operations> operations_;
  Cache<std::vector<Price>> prices_;
};

[[nodiscard]] std::shared_ptr<Session> open_session(const Catalogue& catalogue);
/// One whose catalogue has a price list of the user's own; nullptr where `session` has it already, or `prices` names none.
[[nodiscard]] std::shared_ptr<Session> session_with_prices(const Session& session, const std::string& prices);

}  // namespace tbdsim
