// SQLite databases that Nsight Systems exports. Tables are there only where something was recorded; columns have come and gone.
// Source: NVIDIA, Nsight Systems, SQLite schema reference.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>

#include "model/trace/owners.hpp"
#include "model/trace/read_trace.hpp"

namespace tbdsim::trace {
namespace {

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

/// Reads one export.
class Export {
 public:
  Export(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) { trace_.tool = "Nsight Systems"; }

  Result<Trace> read() {
    if (!has("CUPTI_ACTIVITY_KIND_KERNEL") && !has("CUPTI_ACTIVITY_KIND_MEMCPY"))
      return refuse("a database of something else, or an export without CUDA: expected the table CUPTI_ACTIVITY_KIND_KERNEL");
    read_strings();
    read_device();
    if (has("CUPTI_ACTIVITY_KIND_RUNTIME")) read_calls();
    if (has("NVTX_EVENTS")) read_ranges();
    find_owners(spans_, calls_);
    if (has("CUPTI_ACTIVITY_KIND_KERNEL")) {
      const bool demangled = has("CUPTI_ACTIVITY_KIND_KERNEL", "demangledName");
      const std::string name = demangled ? "demangledName" : "shortName";
      read_events("SELECT start, end, deviceId, streamId, correlationId, 0, 0, " + name + " FROM CUPTI_ACTIVITY_KIND_KERNEL",
                  Source::kernel);
    }
    if (has("CUPTI_ACTIVITY_KIND_MEMCPY"))
      read_events("SELECT start, end, deviceId, streamId, correlationId, bytes, copyKind, 0 FROM CUPTI_ACTIVITY_KIND_MEMCPY",
                  Source::copy);
    if (has("CUPTI_ACTIVITY_KIND_MEMSET"))
      read_events("SELECT start, end, deviceId, streamId, correlationId, bytes, 0, 0 FROM CUPTI_ACTIVITY_KIND_MEMSET",
                  Source::fill);
    if (!trouble_.empty()) return refuse(trouble_);
    return finished(std::move(trace_), path_);
  }

 private:
  enum class Source { kernel, copy, fill };

  tl::unexpected<Errors> refuse(std::string why) const {
    return tl::make_unexpected(Errors{Error{std::move(why), SourceRef{path_, 0, 0}}});
  }

  /// Calls `visit` for each row. Remembers what went wrong.
  template <class Visit>
  void rows(const std::string& query, const Visit& visit) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(database_, query.c_str(), -1, &made, nullptr) != SQLITE_OK) {
      if (trouble_.empty()) trouble_ = fmt::format("an export of another form: {}", sqlite3_errmsg(database_));
      return;
    }
    const Statement statement(made);
    int status = SQLITE_ROW;
    while ((status = sqlite3_step(made)) == SQLITE_ROW) visit(made);
    if (status != SQLITE_DONE && trouble_.empty()) trouble_ = fmt::format("damaged or cut short: {}", sqlite3_errmsg(database_));
  }
  static std::string_view text(sqlite3_stmt* row, int column) {
    const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
    return bytes == nullptr ? std::string_view()
                            : std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
  }

  bool has(const std::string& table, const std::string& column = "") {
    bool found = false;
    const std::string query = column.empty() ? "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '" + table + "'"
                                             : "SELECT 1 FROM pragma_table_info('" + table + "') WHERE name = '" + column + "'";
    rows(query, [&](sqlite3_stmt*) { found = true; });
    return found;
  }

  void read_strings() {
    if (!has("StringIds")) return;
    rows("SELECT id, value FROM StringIds",
         [&](sqlite3_stmt* row) { strings_[sqlite3_column_int64(row, 0)] = names_.number(text(row, 1)); });
  }
  std::int32_t string(std::int64_t id) {
    const auto found = strings_.find(id);
    return found == strings_.end() ? names_.number("unnamed") : found->second;
  }

  void read_device() {
    if (has("TARGET_INFO_GPU") && has("TARGET_INFO_GPU", "name"))
      rows("SELECT name FROM TARGET_INFO_GPU LIMIT 1", [&](sqlite3_stmt* row) { trace_.device = text(row, 0); });
  }

  void read_calls() {
    rows("SELECT start, end, globalTid, correlationId, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME", [&](sqlite3_stmt* row) {
      const Span span{sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
      const std::string& name = trace_.names[static_cast<std::size_t>(string(sqlite3_column_int64(row, 4)))];
      if (name.find("Synchronize") != std::string::npos) trace_.waits.push_back(span);
      call_of_.try_emplace(sqlite3_column_int64(row, 3), calls_.size());
      calls_.push_back({span, sqlite3_column_int64(row, 2), -1, -1});
    });
  }

  /// NVTX ranges of threads stand for layers; those of iterations are marks.
  void read_ranges() {
    const bool numbered = has("NVTX_EVENTS", "textId");
    rows(fmt::format("SELECT start, end, globalTid, text, {} FROM NVTX_EVENTS WHERE end IS NOT NULL",
                     numbered ? "textId" : "NULL"),
         [&](sqlite3_stmt* row) {
           const Span span{sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
           const bool own = sqlite3_column_type(row, 3) != SQLITE_NULL;
           const std::int32_t name = own ? names_.number(text(row, 3)) : string(sqlite3_column_int64(row, 4));
           const std::string& called = trace_.names[static_cast<std::size_t>(name)];
           std::string low = called.substr(0, 16);
           std::transform(low.begin(), low.end(), low.begin(),
                          [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
           const bool mark = low.rfind("step", 0) == 0 || low.rfind("iter", 0) == 0 || low.rfind("profilerstep", 0) == 0;
           if (mark)
             trace_.marks.push_back(span);
           else
             spans_.push_back({span, sqlite3_column_int64(row, 2), name, true, -1, false});
         });
  }

  void read_events(const std::string& query, Source source) {
    rows(query, [&](sqlite3_stmt* row) {
      Event event;
      event.start = sqlite3_column_int64(row, 0);
      event.end = sqlite3_column_int64(row, 1);
      event.device = sqlite3_column_int(row, 2);
      event.stream = sqlite3_column_int(row, 3);
      event.bytes = sqlite3_column_int64(row, 5);
      describe(row, source, event);
      if (const auto found = call_of_.find(sqlite3_column_int64(row, 4)); found != call_of_.end()) {
        const HostCall& call = calls_[found->second];
        event.issued = call.span.start;
        event.op = call.op;
        event.module = call.module;
      }
      trace_.events.push_back(event);
    });
  }

  void describe(sqlite3_stmt* row, Source source, Event& event) {
    if (source == Source::fill) {
      event.activity = Activity::fill;
      event.name = names_.number("memset");
    } else if (source == Source::copy) {
      constexpr std::int64_t kToDevice = 1, kToHost = 2;  // of CUPTI's CUpti_ActivityMemcpyKind
      const std::int64_t kind = sqlite3_column_int64(row, 6);
      event.activity = kind == kToDevice ? Activity::copy_to_device
                       : kind == kToHost ? Activity::copy_to_host
                                         : Activity::copy_on_device;
      event.name = names_.number(kind == kToDevice ? "memcpy HtoD" : kind == kToHost ? "memcpy DtoH" : "memcpy");
    } else {
      event.name = string(sqlite3_column_int64(row, 7));
      event.activity = kernel_activity(trace_.name_of(event));
    }
  }

  sqlite3* database_;
  std::string path_, trouble_;
  Trace trace_;
  Names names_{trace_.names};
  std::unordered_map<std::int64_t, std::int32_t> strings_;
  std::unordered_map<std::int64_t, std::size_t> call_of_;
  std::vector<HostCall> calls_;
  std::vector<HostSpan> spans_;
};

}  // namespace

Result<Trace> read_nsight(const std::string& path) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const Database database(opened);
  if (status != SQLITE_OK)
    return tl::make_unexpected(Errors{Error{fmt::format("cannot open: {}", sqlite3_errstr(status)), SourceRef{path, 0, 0}}});
  // The file may come from anyone: nothing that its schema says is run.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  return Export(opened, path).read();
}

}  // namespace tbdsim::trace
