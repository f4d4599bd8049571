#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  std::optional<Joules> sample_energy;
};

/// The rows of a sweep in an SQLite file. What was committed survives the end of the process, whenever it comes.
class SweepStore {
 public:
  /// Opens or makes a file for the sweep called `grid`, a text that tells one grid from another; empty: whatever it
  /// holds. Errors: not an SQLite file, one of another program or of another sweep; the system's reason.
  [[nodiscard]] static Result<SweepStore> open(const std::string& path, const std::string& grid, bool make);
  SweepStore(SweepStore&&) noexcept;
  SweepStore& operator=(SweepStore&&) = delete;
  ~SweepStore();

  /// Makes the rows those of `inputs`, a digest of all that they follow from: drops rows of other inputs and tells how many.
  [[nodiscard]] Result<std::int64_t> begin(const std::string& inputs);
  [[nodiscard]] bool has(std::int64_t position) const;
  [[nodiscard]] std::string grid() const;
  [[nodiscard]] std::string inputs() const;  ///< empty before any `begin`
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t problems() const;  ///< rows without figures
  /// Adds rows at once, or none; a position that is there already stays as it is. Errors: another process has begun with other
  /// inputs since.
  [[nodiscard]] Result<void> add(const std::vector<SweepRow>& rows);
  /// Every row in the order of the grid.
  [[nodiscard]] Result<void> each(const std::function<void(const SweepRow&)>& visit) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  std::string path_, inputs_;
  std::unique_ptr<sqlite3, Close> database_;
  Statement find_, insert_;

  SweepStore() = default;
  [[nodiscard]] Result<void> run(const std::string& sql) const;
  [[nodiscard]] Statement prepare(const std::string& sql) const;
  /// Errors: a file that is neither a sweep nor, to be made, empty. Leaves the file as it is.
  [[nodiscard]] Result<void> check_owner(bool make) const;
  [[nodiscard]] Result<void> note(const std::string& key, const std::string& value);
  [[nodiscard]] std::int64_t number_of(const std::string& sql) const;
  [[nodiscard]] std::string text_of(const std::string& sql) const;
  [[nodiscard]] tl::unexpected<Errors> problem(const std::string& doing) const;
};

}  // namespace tbdsim
