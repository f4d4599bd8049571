#include "model/analysis/sweep_store.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>

namespace tbdsim {
namespace {

// A row without rowid, so that the file does not depend on the order in which rows came.
constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS sweep (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS point (position INTEGER PRIMARY KEY, config TEXT, problem TEXT, step_time_s REAL,"
    " step_time_low_s REAL, step_time_high_s REAL, throughput REAL, limiting TEXT, limit_share REAL, fits INTEGER, peak_bytes "
    "REAL,"
    " usd_per_hour REAL, usd_per_million_samples REAL, joule_per_sample REAL) WITHOUT ROWID;";
constexpr int kWaitMilliseconds = 10'000;  // for another process that writes

// What marks a file as a sweep (PRAGMA application_id, "tbdS") and its tables' form (PRAGMA user_version).
constexpr std::int64_t kOwner = 0x74626453, kForm = 2;

void bind_text(sqlite3_stmt* statement, int index, const std::string& text) {
  sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

template <class Q>
void bind_optional(sqlite3_stmt* statement, int index, const std::optional<Q>& value) {
  if (value)
    sqlite3_bind_double(statement, index, value->base());
  else
    sqlite3_bind_null(statement, index);
}

std::string column_text(sqlite3_stmt* statement, int index) {
  const auto* text = sqlite3_column_text(statement, index);
  if (text == nullptr) return "";
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(statement, index))};
}

template <class Q>
std::optional<Q> column_optional(sqlite3_stmt* statement, int index) {
  if (sqlite3_column_type(statement, index) == SQLITE_NULL) return std::nullopt;
  return Q(sqlite3_column_double(statement, index));
}

void bind_row(sqlite3_stmt* statement, const SweepRow& row) {
  sqlite3_bind_int64(statement, 1, row.position);
  bind_text(statement, 2, row.config);
  bind_text(statement, 3, row.problem);
  sqlite3_bind_double(statement, 4, row.step_time.base());
  sqlite3_bind_double(statement, 5, row.step_time_low.base());
  sqlite3_bind_double(statement, 6, row.step_time_high.base());
  sqlite3_bind_double(statement, 7, row.throughput);
  bind_text(statement, 8, row.limit);
  sqlite3_bind_double(statement, 9, row.limit_share);
  sqlite3_bind_int(statement, 10, row.fits ? 1 : 0);
  sqlite3_bind_double(statement, 11, row.peak.base());
  bind_optional(statement, 12, row.hour_cost);
  bind_optional(statement, 13, row.million_samples_cost);
  bind_optional(statement, 14, row.sample_energy);
}

SweepRow read_row(sqlite3_stmt* statement) {
  SweepRow row;
  row.position = sqlite3_column_int64(statement, 0);
  row.config = column_text(statement, 1);
  row.problem = column_text(statement, 2);
  row.step_time = Seconds(sqlite3_column_double(statement, 3));
  row.step_time_low = Seconds(sqlite3_column_double(statement, 4));
  row.step_time_high = Seconds(sqlite3_column_double(statement, 5));
  row.throughput = sqlite3_column_double(statement, 6);
  row.limit = column_text(statement, 7);
  row.limit_share = sqlite3_column_double(statement, 8);
  row.fits = sqlite3_column_int(statement, 9) != 0;
  row.peak = Bytes(sqlite3_column_double(statement, 10));
  row.hour_cost = column_optional<Usd>(statement, 11);
  row.million_samples_cost = column_optional<Usd>(statement, 12);
  row.sample_energy = column_optional<Joules>(statement, 13);
  return row;
}

}  // namespace

void SweepStore::Close::operator()(sqlite3* database) const { sqlite3_close(database); }
void SweepStore::Close::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
SweepStore::SweepStore(SweepStore&&) noexcept = default;
SweepStore::~SweepStore() = default;

tl::unexpected<Errors> SweepStore::problem(const std::string& doing) const {
  return tl::make_unexpected(
      Errors{Error{fmt::format("{}: {}", doing, sqlite3_errmsg(database_.get())), SourceRef{path_, 0, 0}}});
}

Result<void> SweepStore::run(const std::string& sql) const {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return problem("cannot use this sweep");
  return {};
}

SweepStore::Statement SweepStore::prepare(const std::string& sql) const {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr);
  return Statement(statement);
}

std::string SweepStore::text_of(const std::string& sql) const {
  const Statement statement = prepare(sql);
  return statement && sqlite3_step(statement.get()) == SQLITE_ROW ? column_text(statement.get(), 0) : "";
}

std::int64_t SweepStore::number_of(const std::string& sql) const {
  const Statement statement = prepare(sql);
  return statement && sqlite3_step(statement.get()) == SQLITE_ROW ? sqlite3_column_int64(statement.get(), 0) : 0;
}

Result<void> SweepStore::check_owner(bool make) const {
  const auto refuse = [&](std::string why) { return tl::make_unexpected(Errors{Error{std::move(why), SourceRef{path_, 0, 0}}}); };
  const Statement id = prepare("PRAGMA application_id");
  if (!id || sqlite3_step(id.get()) != SQLITE_ROW) return problem("not a sweep");
  const std::int64_t owner = sqlite3_column_int64(id.get(), 0), form = number_of("PRAGMA user_version");
  if (owner == kOwner && form == kForm) return {};
  if (owner == kOwner) return refuse(fmt::format("a sweep of another version (form {}, expected {}); sweep again", form, kForm));
  if (owner != 0 || number_of("SELECT count(*) FROM sqlite_master") > 0)
    return refuse("a database of something else, not a sweep; name a file that sweep -o wrote, or a new one to write");
  if (!make) return refuse("an empty file, not a sweep; name a file that sweep -o wrote");
  return {};
}

Result<SweepStore> SweepStore::open(const std::string& path, const std::string& grid, bool make) {
  std::error_code ignored;
  if (!make && !std::filesystem::is_regular_file(path, ignored))
    return tl::make_unexpected(Errors{Error{"no such sweep", SourceRef{path, 0, 0}}});
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    return tl::make_unexpected(Errors{Error{"not a file; name a new one, or one that sweep -o wrote", SourceRef{path, 0, 0}}});
  SweepStore store;
  store.path_ = path;
  sqlite3* database = nullptr;
  const int opened = sqlite3_open(path.c_str(), &database);
  store.database_.reset(database);
  if (opened != SQLITE_OK) return store.problem("cannot open");
  sqlite3_busy_timeout(database, kWaitMilliseconds);
  if (auto own = store.check_owner(make); !own) return tl::make_unexpected(own.error());
  // Tables and mark come at once, so that a process that ends in between leaves no file that is nobody's.
  const std::string begin =
      fmt::format("BEGIN IMMEDIATE; PRAGMA application_id = {}; PRAGMA user_version = {}; {} COMMIT;", kOwner, kForm, kTables);
  for (const std::string& sql : {std::string("PRAGMA journal_mode = WAL;"), std::string("PRAGMA synchronous = NORMAL;"), begin}) {
    if (auto done = store.run(sql); !done) return tl::make_unexpected(done.error());
  }
  const std::string held = store.grid();
  if (held.empty() && !grid.empty()) {
    if (auto noted = store.note("grid", grid); !noted) return tl::make_unexpected(noted.error());
  } else if (!grid.empty() && held != grid) {
    return tl::make_unexpected(Errors{Error{"holds another sweep; name another file with -o", SourceRef{path, 0, 0}}});
  }
  store.find_ = store.prepare("SELECT 1 FROM point WHERE position = ?");
  store.insert_ = store.prepare("INSERT OR IGNORE INTO point VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  if (!store.find_ || !store.insert_) return store.problem("not a sweep");
  return store;
}

std::string SweepStore::grid() const { return text_of("SELECT value FROM sweep WHERE key = 'grid'"); }

std::string SweepStore::inputs() const { return text_of("SELECT value FROM sweep WHERE key = 'inputs'"); }

Result<void> SweepStore::note(const std::string& key, const std::string& value) {
  const Statement noting = prepare("INSERT OR REPLACE INTO sweep VALUES (?, ?)");
  bind_text(noting.get(), 1, key);
  bind_text(noting.get(), 2, value);
  if (sqlite3_step(noting.get()) != SQLITE_DONE) return problem("cannot write");
  return {};
}

Result<std::int64_t> SweepStore::begin(const std::string& inputs) {
  sqlite3_reset(find_.get());
  if (auto begun = run("BEGIN IMMEDIATE"); !begun) return tl::make_unexpected(begun.error());
  std::int64_t dropped = 0;
  Result<void> done;
  if (this->inputs() != inputs) {
    dropped = rows();
    done = run("DELETE FROM point");
    if (done) done = note("inputs", inputs);
  }
  if (done) done = run("COMMIT");
  if (!done) {
    (void)run("ROLLBACK");
    return tl::make_unexpected(done.error());
  }
  inputs_ = inputs;
  return dropped;
}

std::int64_t SweepStore::rows() const { return number_of("SELECT count(*) FROM point"); }

std::int64_t SweepStore::problems() const { return number_of("SELECT count(*) FROM point WHERE problem <> ''"); }

bool SweepStore::has(std::int64_t position) const {
  sqlite3_reset(find_.get());
  sqlite3_bind_int64(find_.get(), 1, position);
  return sqlite3_step(find_.get()) == SQLITE_ROW;
}

Result<void> SweepStore::add(const std::vector<SweepRow>& rows) {
  if (rows.empty()) return {};
  sqlite3_reset(find_.get());
  if (auto begun = run("BEGIN IMMEDIATE"); !begun) return begun;
  if (inputs() != inputs_) {
    (void)run("ROLLBACK");
    return tl::make_unexpected(
        Errors{Error{"another process has begun this sweep anew with other inputs; sweep again", SourceRef{path_, 0, 0}}});
  }
  for (const SweepRow& row : rows) {
    sqlite3_reset(insert_.get());
    bind_row(insert_.get(), row);
    if (sqlite3_step(insert_.get()) != SQLITE_DONE) {
      auto failed = problem("cannot write");
      (void)run("ROLLBACK");
      return failed;
    }
  }
  sqlite3_reset(insert_.get());
  return run("COMMIT");
}

Result<void> SweepStore::each(const std::function<void(const SweepRow&)>& visit) const {
  const Statement all = prepare("SELECT * FROM point ORDER BY position");
  if (!all) return problem("cannot read");
  int status = sqlite3_step(all.get());
  for (; status == SQLITE_ROW; status = sqlite3_step(all.get())) visit(read_row(all.get()));
  if (status != SQLITE_DONE) return problem("cannot read");
  return {};
}

}  // namespace tbdsim
