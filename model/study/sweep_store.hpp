#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/study/payment.hpp"
#include "model/support/result.hpp"
#include "model/units/quantity.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace tbdsim {

/// One finished point of a sweep. Figures are absent where it could not be predicted.
struct SweepRow {
  std::int64_t position = 0;  ///< in the grid
  std::string config;         ///< "hw=dgx1\nmodel=resnet50\n...", in the order of the axes
  std::string problem;        ///< why there are no figures
  Seconds step_time, step_time_low, step_time_high;
  double throughput = 0;  ///< samples per second
  std::string limit;
  double limit_share = 0;  ///< of the critical path
  bool fits = true;
  Bytes peak;  ///< of the GPU that needs most
  std::optional<Usd> hour_cost, million_samples_cost;
  PaidBy paid_by = PaidBy::nothing;  ///< what both are reckoned by
  std::optional<Joules> sample_energy;
  Seconds start_up;     ///< of a run
  double cpu_busy = 0;  ///< share of the step for which the cores of a node's host are busy
};

/// Time of a run of one epoch of so many samples: start-up and whole steps, as `scale` and `predict` tell it. Expects a row with
/// figures.
[[nodiscard]] Seconds epoch_time(const SweepRow& row, std::int64_t samples);

/// What the rows of a sweep follow from.
struct SweepOrigin {
  std::string digest;                ///< of everything that predictions may read
  std::vector<std::string> files{};  ///< the user's files among it, as they were named
  std::string folder{};              ///< in which a relative name among them was looked up; empty: there is none
};

/// The rows of a sweep in an SQLite file. What was committed survives the end of the process, whenever it comes.
class SweepStore {
 public:
  /// Opens or makes a file for the sweep called `grid`, a text that tells one grid from another; empty: whatever it
  /// holds. Errors: not an SQLite file, one of another program or of another sweep, one whose rows cannot be
  /// those of its grid; the system's reason.
  [[nodiscard]] static Result<SweepStore> open(const std::string& path, const std::string& grid);
  /// Opens a file to read it, which writes nothing. Errors: as above; no such file; a damaged one, or one whose rows cannot be
  /// those of its grid.
  [[nodiscard]] static Result<SweepStore> read(const std::string& path);
  SweepStore(SweepStore&&) noexcept;
  SweepStore& operator=(SweepStore&&) = delete;
  ~SweepStore();

  /// Errors: rows of other inputs than `origin`, where a file that they follow from is gone or was looked up in another folder.
  [[nodiscard]] Result<void> check_inputs(const SweepOrigin& origin) const;
  /// Makes the rows those of `origin`: drops rows of other inputs and tells how many. Errors: as `check_inputs`, whose rows are
  /// kept then.
  [[nodiscard]] Result<std::int64_t> begin(const SweepOrigin& origin);
  /// Notes of how many points the grid is.
  [[nodiscard]] Result<void> note_points(std::size_t points);
  [[nodiscard]] bool has(std::int64_t position) const;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string grid() const;
  [[nodiscard]] SweepOrigin origin() const;   ///< empty before any `begin`
  [[nodiscard]] std::int64_t points() const;  ///< of the grid; 0: not noted
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t problems() const;  ///< rows without figures
  /// Adds rows at once, or none; a position that is there already stays as it is. Errors: another process has begun with other
  /// inputs since.
  [[nodiscard]] Result<void> add(const std::vector<SweepRow>& rows);
  /// Every row in the order of the grid. Errors: a row that no sweep writes.
  [[nodiscard]] Result<void> each(const std::function<void(const SweepRow&)>& visit) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  std::string path_, digest_;
  std::unique_ptr<sqlite3, Close> database_;
  Statement find_, insert_;

  SweepStore() = default;
  /// Opens the file itself, with what a foreign file could run switched off.
  [[nodiscard]] Result<void> connect(const std::string& name, int flags);
  [[nodiscard]] Result<void> run(const std::string& sql) const;
  [[nodiscard]] Statement prepare(const std::string& sql) const;
  /// Errors: a file that is neither a sweep nor, to be made, empty. Leaves the file as it is.
  [[nodiscard]] Result<void> check_owner(bool make) const;
  /// Errors: tables other than this program makes, or anything else that acts: triggers, views, indices.
  [[nodiscard]] Result<void> check_tables() const;
  [[nodiscard]] Result<void> check_whole() const;
  /// Errors: rows that cannot be those of the grid which the store notes: more of them, or of no grid.
  [[nodiscard]] Result<void> check_positions() const;
  [[nodiscard]] std::string noted(const std::string& key) const;
  [[nodiscard]] Result<void> note(const std::string& key, const std::string& value);
  [[nodiscard]] std::int64_t number_of(const std::string& sql) const;
  [[nodiscard]] std::string text_of(const std::string& sql) const;
  [[nodiscard]] tl::unexpected<Errors> problem(const std::string& doing) const;
};

}  // namespace tbdsim
