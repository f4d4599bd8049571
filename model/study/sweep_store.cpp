#include "model/study/sweep_store.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

// A row without rowid, so that the file does not depend on the order in which rows came.
constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS sweep (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS point (position INTEGER PRIMARY KEY, config TEXT, problem TEXT, step_time_s REAL,"
    " step_time_low_s REAL, step_time_high_s REAL, throughput REAL, limiting TEXT, limit_share REAL, fits INTEGER, peak_bytes "
    "REAL,"
    " usd_per_hour REAL, usd_per_million_samples REAL, joule_per_sample REAL, paid_by TEXT, start_up_s REAL, cpu_busy REAL) "
    "WITHOUT ROWID;";
constexpr int kWaitMilliseconds = 10'000;  // for another process that writes

// What marks a file as a sweep (PRAGMA application_id, "tbdS") and its tables' form (PRAGMA user_version).
constexpr std::int64_t kOwner = 0x74626453, kForm = 5;

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
  bind_text(statement, 15, std::string(name(row.paid_by)));
  sqlite3_bind_double(statement, 16, row.start_up.base());
  sqlite3_bind_double(statement, 17, row.cpu_busy);
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
  row.paid_by = find_paid_by(column_text(statement, 14)).value_or(PaidBy::nothing);
  row.start_up = Seconds(sqlite3_column_double(statement, 15));
  row.cpu_busy = sqlite3_column_double(statement, 16);
  return row;
}

/// Whether a row can be what `sweep` wrote.
bool is_sound(const SweepRow& row) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0.0; };
  const auto known = [](const auto& value) { return !value || std::isfinite(value->base()); };
  const bool configured = row.config.empty() || row.config.find('=') != std::string::npos;
  if (row.position < 0 || !configured) return false;
  if (!row.problem.empty()) return true;
  if (!std::isfinite(row.start_up.base()) || row.start_up < Seconds(0.0)) return false;
  return positive(row.step_time.base()) && positive(row.step_time_low.base()) && positive(row.step_time_high.base()) &&
         positive(row.throughput) && std::isfinite(row.limit_share) && std::isfinite(row.cpu_busy) &&
         std::isfinite(row.peak.base()) && known(row.hour_cost) && known(row.million_samples_cost) && known(row.sample_energy);
}

/// Why `now` cannot have replaced what rows of `held` follow from; empty where it may have.
std::string lost_input(const SweepOrigin& held, const SweepOrigin& now) {
  for (const std::string& file : held.files) {
    if (std::find(now.files.begin(), now.files.end(), file) != now.files.end()) continue;
    return held.folder.empty()
               ? fmt::format("{}, from which they were predicted, is gone; bring it back, or name another file with -o",
                             tbdsim::quoted(file))
               : fmt::format(
                     "{}, from which they were predicted in {}, is not found here; sweep there with the file in place, or "
                     "name another file with -o",
                     tbdsim::quoted(file), held.folder);
  }
  if (held.folder.empty() || now.folder.empty() || held.folder == now.folder) return "";
  return fmt::format(
      "they were predicted in {}, whose files are others than those here; sweep there, or name another file with -o",
      held.folder);
}

/// Names of files, which may hold anything but NUL, as one text.
std::string joined(const std::vector<std::string>& files) { return fmt::format("{}", fmt::join(files, std::string(1, '\0'))); }

/// A path as SQLite's file: names take it.
std::string uri_path(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", c) : std::string(1, c);
  return text;
}

}  // namespace

Seconds epoch_time(const SweepRow& row, std::int64_t samples) {
  const double together = std::max(1.0, std::round(row.throughput * row.step_time.base()));
  return row.start_up + std::ceil(static_cast<double>(samples) / together) * row.step_time;
}

void SweepStore::Close::operator()(sqlite3* database) const { sqlite3_close(database); }
void SweepStore::Close::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
SweepStore::SweepStore(SweepStore&&) noexcept = default;
SweepStore::~SweepStore() = default;

tl::unexpected<Errors> SweepStore::problem(const std::string& doing) const {
  // "disk I/O error" hides why: a full disk, a limit.
  constexpr int kPrimaryCode = 0xff;  // the rest of SQLite's code says more of the same
  const bool io = (sqlite3_errcode(database_.get()) & kPrimaryCode) == SQLITE_IOERR;
  const int system = io ? sqlite3_system_errno(database_.get()) : 0;
  const std::string why = system != 0 ? fmt::format(" ({})", std::strerror(system)) : "";
  return tl::make_unexpected(
      Errors{Error{fmt::format("{}: {}{}", doing, sqlite3_errmsg(database_.get()), why), SourceRef{path_, 0, 0}}});
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

Result<void> SweepStore::connect(const std::string& name, int flags) {
  find_.reset();
  insert_.reset();
  sqlite3* database = nullptr;
  const int opened = sqlite3_open_v2(name.c_str(), &database, flags, nullptr);
  database_.reset(database);
  if (opened != SQLITE_OK) return problem("cannot open");
  sqlite3_busy_timeout(database, kWaitMilliseconds);
  // The file may come from anyone: nothing that its schema says is run.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  return {};
}

Result<void> SweepStore::check_tables() const {
  const std::string listing =
      "SELECT group_concat(type || ' ' || name || ' ' || ifnull(sql, ''), char(10)) FROM "
      "(SELECT * FROM sqlite_master ORDER BY name)";
  SweepStore own;
  if (auto made = own.connect(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE); !made) return made;
  if (auto made = own.run(kTables); !made) return made;
  const Statement statement = prepare(listing);
  if (!statement || sqlite3_step(statement.get()) != SQLITE_ROW) return problem("damaged: cannot read");
  if (column_text(statement.get(), 0) == own.text_of(listing)) return {};
  return tl::make_unexpected(
      Errors{Error{"has tables, triggers or views that no sweep has; name a file that sweep -o wrote", SourceRef{path_, 0, 0}}});
}

Result<void> SweepStore::check_whole() const {
  const Statement check = prepare("PRAGMA integrity_check(1)");
  if (!check || sqlite3_step(check.get()) != SQLITE_ROW) return problem("damaged");
  const std::string found = column_text(check.get(), 0);
  if (found == "ok") return {};
  return tl::make_unexpected(Errors{Error{fmt::format("damaged: {}", tbdsim::printable(found)), SourceRef{path_, 0, 0}}});
}

Result<SweepStore> SweepStore::open(const std::string& path, const std::string& grid) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    return tl::make_unexpected(Errors{Error{"not a file; name a new one, or one that sweep -o wrote", SourceRef{path, 0, 0}}});
  SweepStore store;
  store.path_ = path;
  if (auto opened = store.connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE); !opened)
    return tl::make_unexpected(opened.error());
  if (auto own = store.check_owner(true); !own) return tl::make_unexpected(own.error());
  // Tables and mark come at once, so that a process that ends in between leaves no file that is nobody's.
  const std::string begin =
      fmt::format("BEGIN IMMEDIATE; PRAGMA application_id = {}; PRAGMA user_version = {}; {} COMMIT;", kOwner, kForm, kTables);
  for (const std::string& sql : {std::string("PRAGMA journal_mode = WAL;"), std::string("PRAGMA synchronous = NORMAL;"), begin}) {
    if (auto done = store.run(sql); !done) return tl::make_unexpected(done.error());
  }
  if (auto own = store.check_tables(); !own) return tl::make_unexpected(own.error());
  if (auto placed = store.check_positions(); !placed) return tl::make_unexpected(placed.error());
  const std::string held = store.grid();
  if (held.empty() && !grid.empty()) {
    if (auto noted = store.note("grid", grid); !noted) return tl::make_unexpected(noted.error());
  } else if (!grid.empty() && held != grid) {
    return tl::make_unexpected(Errors{Error{"holds another sweep; name another file with -o", SourceRef{path, 0, 0}}});
  }
  store.find_ = store.prepare("SELECT 1 FROM point WHERE position = ?");
  store.insert_ = store.prepare("INSERT OR IGNORE INTO point VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  if (!store.find_ || !store.insert_) return store.problem("not a sweep");
  return store;
}

Result<SweepStore> SweepStore::read(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) {
    const bool hidden = failed && failed != std::errc::no_such_file_or_directory && failed != std::errc::not_a_directory;
    return tl::make_unexpected(
        Errors{Error{hidden ? fmt::format("cannot open: {}", failed.message()) : "no such sweep", SourceRef{path, 0, 0}}});
  }
  SweepStore store;
  store.path_ = path;
  // Beside a file to which nobody writes, SQLite would make files of its own; `immutable` needs none.
  const std::string log = path + "-wal";
  std::error_code ignored;
  const bool quiet = !std::filesystem::exists(log, ignored) || std::filesystem::file_size(log, ignored) == 0;
  const std::string name = fmt::format("file:{}?mode=ro{}", uri_path(path), quiet ? "&immutable=1" : "");
  if (auto opened = store.connect(name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI); !opened)
    return tl::make_unexpected(opened.error());
  if (auto own = store.check_owner(false); !own) return tl::make_unexpected(own.error());
  if (auto own = store.check_tables(); !own) return tl::make_unexpected(own.error());
  if (auto whole = store.check_whole(); !whole) return tl::make_unexpected(whole.error());
  if (auto placed = store.check_positions(); !placed) return tl::make_unexpected(placed.error());
  return store;
}

std::string SweepStore::noted(const std::string& key) const {
  return text_of(fmt::format("SELECT value FROM sweep WHERE key = '{}'", key));
}

std::string SweepStore::grid() const { return noted("grid"); }

SweepOrigin SweepStore::origin() const {
  SweepOrigin origin{noted("inputs"), {}, noted("folder")};
  const std::string files = noted("files");
  for (std::size_t begin = 0; begin < files.size();) {
    const std::size_t end = std::min(files.find('\0', begin), files.size());
    origin.files.push_back(files.substr(begin, end - begin));
    begin = end + 1;
  }
  return origin;
}

std::int64_t SweepStore::points() const { return number_of("SELECT CAST(value AS INTEGER) FROM sweep WHERE key = 'points'"); }

Result<void> SweepStore::note_points(std::size_t points) { return note("points", fmt::format("{}", points)); }

Result<void> SweepStore::note(const std::string& key, const std::string& value) {
  const Statement noting = prepare("INSERT OR REPLACE INTO sweep VALUES (?, ?)");
  bind_text(noting.get(), 1, key);
  bind_text(noting.get(), 2, value);
  if (sqlite3_step(noting.get()) != SQLITE_DONE) return problem("cannot write");
  return {};
}

Result<void> SweepStore::check_positions() const {
  const auto damaged = [&](std::string what) {
    return tl::make_unexpected(Errors{Error{"damaged: " + std::move(what), SourceRef{path_, 0, 0}}});
  };
  const std::int64_t count = rows(), all = points();
  if (all < 0) return damaged(fmt::format("notes {} points", all));
  if (count == 0) return {};
  if (all == 0 || noted("grid").empty()) return damaged(fmt::format("does not note of which grid its {} rows are", count));
  const std::int64_t last = number_of("SELECT max(position) FROM point");
  return last < all ? Result<void>() : damaged(fmt::format("holds row {} of a grid of {} points", last, all));
}

Result<void> SweepStore::check_inputs(const SweepOrigin& origin) const {
  const SweepOrigin held = this->origin();
  const std::int64_t kept = held.digest == origin.digest ? 0 : rows();
  const std::string lost = kept > 0 ? lost_input(held, origin) : "";
  if (lost.empty()) return {};
  return tl::make_unexpected(Errors{Error{fmt::format("its {} rows are kept: {}", kept, lost), SourceRef{path_, 0, 0}}});
}

Result<std::int64_t> SweepStore::begin(const SweepOrigin& origin) {
  sqlite3_reset(find_.get());
  if (auto begun = run("BEGIN IMMEDIATE"); !begun) return tl::make_unexpected(begun.error());
  std::int64_t dropped = 0;
  Result<void> done;
  if (this->origin().digest != origin.digest) {
    dropped = rows();
    done = check_inputs(origin);
    if (done) done = run("DELETE FROM point");
    if (done) done = note("inputs", origin.digest);
    if (done) done = note("files", joined(origin.files));
    if (done) done = note("folder", origin.folder);
  }
  if (done) done = run("COMMIT");
  if (!done) {
    (void)run("ROLLBACK");
    return tl::make_unexpected(done.error());
  }
  digest_ = origin.digest;
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
  if (noted("inputs") != digest_) {
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
  for (; status == SQLITE_ROW; status = sqlite3_step(all.get())) {
    const SweepRow row = read_row(all.get());
    if (!is_sound(row))
      return tl::make_unexpected(
          Errors{Error{fmt::format("damaged: row {} holds figures that no sweep writes", row.position), SourceRef{path_, 0, 0}}});
    visit(row);
  }
  if (status != SQLITE_DONE) return problem("cannot read");
  return {};
}

}  // namespace tbdsim
