#include "model/analysis/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>

#include "model/analysis/session.hpp"
#include "model/analysis/shared_step.hpp"
#include "model/input/digest.hpp"
#include "model/input/file_text.hpp"
#include "model/input/toml_reader.hpp"

namespace tbdsim {
namespace {

/// Rows that are committed together: a second of work at most, and what an interruption may lose.
constexpr std::size_t kBatch = 512;

using Point = std::vector<std::pair<std::string, std::string>>;

std::string config_text(const Point& point) {
  std::string text;
  for (const auto& [option, value] : point) text += fmt::format("{}={}\n", option, value);
  return text;
}

/// Digests of the user's files that points read, each file read once a sweep. Names of the catalogue have none: all of it
/// counts (`catalogue_digest`).
class FileDigests {
 public:
  /// Of the files among the values of a point, and of all that those and the changes `set` refer to.
  std::string text(const Point& point, const std::vector<std::string>& set) {
    std::string text;
    for (const auto& [option, value] : point) {
      const std::string file = of_file(value);
      if (file.empty()) continue;
      text += file;
      for (const std::string& change : set) text += beside(value, literal_text(change));
    }
    return text;
  }

 private:
  std::map<std::string, std::string> known_;  ///< by path; empty: no such file

  /// What stands behind the = of KEY=VALUE, without quotes.
  static std::string literal_text(const std::string& change) {
    std::string text = change.substr(std::min(change.find('='), change.size() - 1) + 1);
    text.erase(std::remove(text.begin(), text.end(), '"'), text.end());
    return text;
  }

  /// Of a file, then of those that texts in it name, with or without their ending: as the readers look them up, beside it.
  const std::string& of_file(const std::string& path) {
    const auto [entry, fresh] = known_.try_emplace(path);
    std::string& text = entry->second;
    std::error_code ignored;
    if (!fresh || !std::filesystem::is_regular_file(path, ignored)) return text;
    const auto bytes = read_file(path);
    if (!bytes) return text;
    text = fmt::format("{} {}\n", path, sha256_hex(*bytes));
    if (std::filesystem::path(path).extension() != ".toml") return text;
    auto file = TomlFile::parse(*bytes, path);
    if (!file) return text;
    const Edits listing{{}, std::make_shared<std::vector<DocumentRecord>>()};
    file->edit(listing, "");
    std::string referred;
    for (const DocumentLeaf& leaf : listing.records->front().leaves) {
      if (leaf.text) referred += beside(path, leaf.literal);
    }
    return known_[path] += referred;
  }

  std::string beside(const std::string& path, const std::string& name) {
    if (name.empty() || name.size() > kLongestName) return {};
    const std::string there = (std::filesystem::path(path).parent_path() / name).string();
    return of_file(there) + of_file(there + ".toml");
  }

  static constexpr std::size_t kLongestName = 255;  // of a file, on every common file system
};

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

SweepRow predicted(Session& session, const StudyGrid& grid, const Point& point, SharedStep& shared, SweepRow row) {
  const auto options = options_of(point, grid.set);
  const auto prediction =
      options ? predict(session, *options, &shared) : Result<Prediction>(tl::make_unexpected(options.error()));
  if (!prediction) {
    row.problem = prediction.error().front().message;
    return row;
  }
  const Prediction& p = *prediction;
  row.step_time_s = p.step_time.value.base();
  row.step_time_low_s = p.step_time.low.base();
  row.step_time_high_s = p.step_time.high.base();
  row.throughput = p.throughput.value;
  row.limit = p.limit.resource;
  row.limit_share = p.limit.share;
  row.fits = p.memory.fits;
  for (const GpuMemory& gpu : p.memory.gpus) row.peak_bytes = std::max(row.peak_bytes, gpu.peak.base());
  row.usd_per_hour = p.usd_per_hour;
  row.usd_per_million_samples = p.usd_per_million_samples;
  row.joule_per_sample = p.joule_per_sample;
  return row;
}

}  // namespace

std::string grid_text(const StudyGrid& grid) {
  std::string text;
  for (const GridAxis& axis : grid.axes) text += fmt::format("{}={}\n", axis.option, fmt::join(axis.values, ","));
  for (const std::string& set : grid.set) text += fmt::format("set {}\n", set);
  return text;
}

Result<std::string> catalogue_digest(const Catalogue& catalogue) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(catalogue.root + "/hardware", ignored)) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::string digests = TBDSIM_VERSION;
  for (const std::string& path : paths) {
    const auto text = read_file(path);
    if (!text) return tl::make_unexpected(text.error());
    digests += sha256_hex(*text);
  }
  return sha256_hex(digests);
}

Result<SweepProgress> sweep(Session& session, const StudyGrid& grid, SweepShard shard, SweepStore& store,
                            const std::function<void(const SweepProgress&)>& progress) {
  const auto catalogue = catalogue_digest(session.catalogue());
  if (!catalogue) return tl::make_unexpected(catalogue.error());
  const std::string changes = fmt::format("{}\n{}\n", *catalogue, fmt::join(grid.set, "\n"));
  const std::size_t points = grid.points();
  SweepProgress state;
  state.all = points > shard.index ? (points - shard.index + shard.count - 1) / shard.count : 0;
  const SharingOrder order(grid);
  FileDigests files;
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
      Point point = grid.at(position);
      SweepRow row;
      row.position = static_cast<std::int64_t>(position);
      row.config = config_text(point);
      row.digest = sha256_hex(changes + row.config + files.text(point, grid.set));
      ++state.done;
      if (store.has(row.digest)) continue;
      const std::size_t group = next / order.members();
      if (group != last || todo.size() - runs.back() == kRun) runs.push_back(todo.size());
      last = group;
      rows.push_back(std::move(row));
      todo.push_back(std::move(point));
    }
    const std::size_t count = runs.size();
    runs.push_back(todo.size());
#pragma omp parallel for schedule(dynamic, 1)
    for (std::size_t run = 0; run < count; ++run) {
      SharedStep shared;
      for (std::size_t i = runs[run]; i < runs[run + 1]; ++i)
        rows[i] = predicted(session, grid, todo[i], shared, std::move(rows[i]));
    }
    if (const auto stored = store.add(rows); !stored) return tl::make_unexpected(stored.error());
    state.predicted += rows.size();
    progress(state);
  }
  return state;
}

}  // namespace tbdsim
