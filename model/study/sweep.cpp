#include "model/study/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>

#include "model/configuration/session.hpp"
#include "model/input/digest.hpp"
#include "model/input/file_text.hpp"
#include "model/input/toml_reader.hpp"
#include "model/prediction/step_prediction.hpp"
#include "model/study/sweep_front.hpp"
#include "model/support/first_reason.hpp"
#include "model/support/version.hpp"

namespace tbdsim {
namespace {

/// Rows that are committed together: a second of work at most, and what an interruption may lose.
constexpr std::size_t kBatch = 512;

using Point = std::vector<std::pair<std::string, std::string>>;

/// Digests of the user's files that are named, and of those that texts in them name, with or without their ending: as the
/// readers look them up, beside the file that names them.
class NamedFiles {
 public:
  /// `changed`: what `--set` puts in the place of texts of the files.
  explicit NamedFiles(std::vector<std::string> changed) : changed_(std::move(changed)) {}

  void add(const std::filesystem::path& folder, const std::string& name) {
    for (const char* ending : {"", ".toml"}) add(folder / (name + ending));
  }
  /// The files with a digest of `rest` and of what they hold.
  [[nodiscard]] SweepOrigin origin(const std::string& rest) const {
    std::string text = rest + "\n";
    SweepOrigin origin;
    bool relative = false;
    for (const auto& [path, digest] : digests_) {
      text += fmt::format("{} {}\n", path, digest);
      origin.files.push_back(path);
      relative = relative || std::filesystem::path(path).is_relative();
    }
    std::error_code ignored;
    if (relative) origin.folder = std::filesystem::current_path(ignored).string();
    origin.digest = sha256_hex(text);
    return origin;
  }

 private:
  std::map<std::string, std::string> digests_;
  std::vector<std::string> changed_;

  void add(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return;
    const auto bytes = read_file(path.string());
    if (!bytes || !digests_.emplace(path.string(), sha256_hex(*bytes)).second || path.extension() != ".toml") return;
    auto file = TomlFile::parse(*bytes, path.string());
    if (!file) return;
    const Edits listing{{}, std::make_shared<std::vector<DocumentRecord>>()};
    file->edit(listing, "");
    for (const DocumentLeaf& leaf : listing.records->front().leaves)
      if (leaf.text) add(path.parent_path(), leaf.literal);
    for (const std::string& name : changed_) add(path.parent_path(), name);
  }
};

/// What stands behind the = of KEY=VALUE, without quotes.
std::string value_of(const std::string& assignment) {
  std::string text = assignment.substr(std::min(assignment.find('='), assignment.size() - 1) + 1);
  std::erase(text, '"');
  return text;
}

/// Axes along which a step's kernels and the arrays of one GPU stay the same.
constexpr std::array<std::string_view, 5> kSharing{"gpus", "nodes", "devices", "network", "exchange"};

/// Points that one thread predicts in turn, sharing a step; no more, so that a grid of GPU counts alone keeps all cores busy.
constexpr std::size_t kRun = 16;

/// The points of a grid in an order in which those that share a step follow one another.
class SharingOrder {
 public:
  explicit SharingOrder(const StudyGrid& grid) {
    std::size_t stride = 1;
    for (std::size_t i = grid.axes.size(); i-- > 0;) {
      const GridAxis& axis = grid.axes[i];
      const bool shares = std::find(kSharing.begin(), kSharing.end(), axis.option) != kSharing.end();
      (shares ? inner_ : outer_).push_back({axis.values.size(), stride});
      if (shares) members_ *= axis.values.size();
      stride *= axis.values.size();
    }
  }

  /// How many points share one step.
  [[nodiscard]] std::size_t members() const { return members_; }
  /// Position in the grid of the point that comes as number `place`.
  [[nodiscard]] std::size_t position(std::size_t place) const {
    return offset(outer_, place / members_) + offset(inner_, place % members_);
  }

 private:
  struct Digit {
    std::size_t values, stride;
  };
  /// `digits`: the fastest first.
  static std::size_t offset(const std::vector<Digit>& digits, std::size_t number) {
    std::size_t sum = 0;
    for (const Digit& digit : digits) {
      sum += number % digit.values * digit.stride;
      number /= digit.values;
    }
    return sum;
  }

  std::vector<Digit> inner_, outer_;
  std::size_t members_ = 1;
};

/// The next prediction of a run; `shared` is filled in by the first one whose step the others can use.
Result<Prediction> next_of_run(Session& session, const PredictOptions& options, SharedStep& shared) {
  if (shared.memory) return predict(session, options, &shared);
  auto first = predict_first(session, options);
  if (!first) return tl::make_unexpected(std::move(first.error()));
  shared = std::move(first->shared);
  return std::move(first->prediction);
}

/// Fills in the figures of a row, and what is to be known of its prediction.
SweepRow predicted(Session& session, const StudyGrid& grid, const Point& point, SharedStep& shared, SweepRow row,
                   std::vector<std::string>& notices) {
  const auto options = options_of(point, grid.set);
  const auto prediction =
      options ? next_of_run(session, *options, shared) : Result<Prediction>(tl::make_unexpected(options.error()));
  if (!prediction) {
    row.problem = first_reason(prediction.error());
    return row;
  }
  const Prediction& p = *prediction;
  row.step_time = p.step_time.value;
  row.step_time_low = p.step_time.low;
  row.step_time_high = p.step_time.high;
  row.throughput = p.throughput.value;
  row.limit = name(p.limit.resource);
  row.limit_share = p.limit.share;
  row.fits = p.memory.fits;
  for (const GpuMemory& gpu : p.memory.gpus) row.peak = std::max(row.peak, gpu.peak);
  row.hour_cost = p.cost.hour;
  row.million_samples_cost = p.cost.million_samples;
  row.sample_energy = p.cost.sample_energy;
  row.paid_by = paid_by(p);
  row.start_up = p.start_up;
  row.cpu_busy = p.utilization.cpu;
  notices = p.notices;
  return row;
}

/// Points that are tried before rows go: of a large grid as many as one batch.
constexpr std::size_t kTried = kBatch;

/// Rows that other inputs predicted go where one of them can be predicted again. `held`: their positions, in order.
Result<void> check_predictable(Session& session, const StudyGrid& grid, const SweepStore& store,
                               const std::vector<std::int64_t>& held) {
  Errors errors;
  const std::size_t stride = (held.size() + kTried - 1) / kTried;
  for (std::size_t i = 0; i < held.size(); i += stride) {
    const auto options = options_of(grid.at(static_cast<std::size_t>(held[i])), grid.set);
    const auto prediction = options ? predict(session, *options) : Result<Prediction>(tl::make_unexpected(options.error()));
    if (prediction) return {};
    if (errors.empty()) errors = prediction.error();
  }
  if (errors.empty()) return {};
  errors.insert(errors.begin(), Error{fmt::format("its {} rows are kept: none that was tried of them can be predicted from its "
                                                  "inputs as they are now; put them right, or name another file with -o",
                                                  store.rows()),
                                      SourceRef{store.path(), 0, 0}});
  return tl::make_unexpected(std::move(errors));
}

}  // namespace

std::string grid_text(const StudyGrid& grid) {
  std::string text;
  for (const GridAxis& axis : grid.axes) text += fmt::format("{}={}\n", axis.option, fmt::join(axis.values, ","));
  for (const std::string& set : grid.set) text += fmt::format("set {}\n", set);
  return text;
}

Result<SweepOrigin> sweep_origin(const Catalogue& catalogue, const StudyGrid& grid) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(catalogue.root + "/hardware", ignored)) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::string digests(version());
  for (const std::string& path : paths) {
    const auto text = read_file(path);
    if (!text) return tl::make_unexpected(text.error());
    digests += sha256_hex(*text);
  }
  std::vector<std::string> changed;
  for (const std::string& assignment : grid.set) changed.push_back(value_of(assignment));
  NamedFiles files(changed);
  for (const GridAxis& axis : grid.axes)
    for (const std::string& value : axis.values) files.add("", value);
  for (const std::string& name : changed) files.add("", name);
  return files.origin(digests);
}

Result<std::int64_t> begin_rows(Session& session, const StudyGrid& grid, SweepStore& store) {
  const auto origin = sweep_origin(session.catalogue(), grid);
  if (!origin) return tl::make_unexpected(origin.error());
  const bool same = store.origin().digest == origin->digest;
  const auto points = static_cast<std::int64_t>(grid.points());
  std::vector<std::int64_t> figures;
  std::optional<std::int64_t> foreign;
  const auto read = store.each([&](const SweepRow& row) {
    const bool own =
        row.position < points && (!same || row.config == config_text(grid.at(static_cast<std::size_t>(row.position))));
    if (!own && !foreign) foreign = row.position;
    if (own && !same && row.problem.empty()) figures.push_back(row.position);
  });
  if (!read) return tl::make_unexpected(read.error());
  if (foreign)
    return tl::make_unexpected(
        Errors{Error{fmt::format("damaged: row {} is no point of this grid", *foreign), SourceRef{store.path(), 0, 0}}});
  if (const auto there = store.check_inputs(*origin); !there) return tl::make_unexpected(there.error());
  if (const auto sound = check_predictable(session, grid, store, figures); !sound) return tl::make_unexpected(sound.error());
  return store.begin(*origin);
}

Result<SweepProgress> sweep(Session& session, const StudyGrid& grid, SweepShard shard, SweepStore& store,
                            const std::function<void(const SweepProgress&)>& progress) {
  const auto dropped = begin_rows(session, grid, store);
  if (!dropped) return tl::make_unexpected(dropped.error());
  const std::size_t points = grid.points();
  if (const auto noted = store.note_points(points); !noted) return tl::make_unexpected(noted.error());
  SweepProgress state;
  state.dropped = *dropped;
  state.all = points > shard.index ? (points - shard.index + shard.count - 1) / shard.count : 0;
  const SharingOrder order(grid);
  std::vector<SweepRow> rows;
  std::vector<Point> todo;
  std::vector<std::size_t> runs;  // where each begins in `todo`
  for (std::size_t next = 0; next < points;) {
    rows.clear();
    todo.clear();
    runs.clear();
    for (std::size_t last = points; next < points && todo.size() < kBatch; ++next) {
      const std::size_t position = order.position(next);
      if (position % shard.count != shard.index) continue;
      ++state.done;
      SweepRow row;
      row.position = static_cast<std::int64_t>(position);
      if (store.has(row.position)) continue;
      Point point = grid.at(position);
      row.config = config_text(point);
      const std::size_t group = next / order.members();
      if (group != last || todo.size() - runs.back() == kRun) runs.push_back(todo.size());
      last = group;
      rows.push_back(std::move(row));
      todo.push_back(std::move(point));
    }
    const std::size_t count = runs.size();
    runs.push_back(todo.size());
    std::vector<std::vector<std::string>> notices(rows.size());
#pragma omp parallel for schedule(dynamic, 1)
    for (std::size_t run = 0; run < count; ++run) {
      SharedStep shared;
      for (std::size_t i = runs[run]; i < runs[run + 1]; ++i)
        rows[i] = predicted(session, grid, todo[i], shared, std::move(rows[i]), notices[i]);
    }
    if (const auto stored = store.add(rows); !stored) return tl::make_unexpected(stored.error());
    state.predicted += rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].problem.empty()) state.idle.add(notices[i]);
    progress(state);
  }
  return state;
}

}  // namespace tbdsim
