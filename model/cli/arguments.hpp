#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/cli/report_file.hpp"
#include "model/plan/plan.hpp"
#include "model/prediction/predict.hpp"
#include "model/report/memory_report_text.hpp"
#include "model/study/ownership.hpp"
#include "model/support/progress.hpp"
#include "model/survey/collective_survey.hpp"

namespace tbdsim {

enum class Format { table, json, csv };

struct PredictArguments {
  PredictOptions options;
  Format format = Format::table;
  bool layers = false, kernels = false, links = false, host = false;
  std::string trace;  ///< file to write; empty: none
  ReportFile report;
  std::string from_trace;               ///< trace whose steps are replayed; empty: none
  std::string prices;                   ///< price list of the user's own; empty: none
  std::optional<std::int64_t> samples;  ///< of one epoch
  std::optional<int> epochs;
  std::optional<double> tokens;  ///< of a run
  std::string framework;         ///< as whose settings the job is written; empty: it is predicted
  bool profiling = false;
  std::optional<int> skip, iterations;  ///< steps of a profile; absent: the analysis's own
};

struct ScaleArguments {
  PredictOptions options;  ///< without counts; of `model` and `exchange` a list each
  std::vector<int> gpus, nodes, batches, images;
  std::optional<std::int64_t> samples;  ///< of one epoch
  bool weak = false, fixed_global_batch = false;
  Format format = Format::table;
  ReportFile report;
  Progress* progress = nullptr;  ///< told how far the work is
};

struct ValidateArguments {
  std::vector<std::string> files;
  Format format = Format::table;
  bool rows = false;
  bool summary = false;
  std::optional<double> max_mean_ape;  ///< a share: 0.08 is 8 %
  ReportFile report;
  Progress* progress = nullptr;  ///< told how far the work is
};

struct ListArguments {
  std::string kind;            ///< empty: how many of each kind there are
  std::optional<Bytes> bytes;  ///< also the time to move them
  Format format = Format::table;
};

struct ShowArguments {
  std::string name;
  std::optional<int> image, seq_len;
  std::optional<Bytes> bytes;  ///< also the time to move them
  bool as_toml = false;        ///< as the file that describes it
  Format format = Format::table;
};

struct TopologyArguments {
  /// Hardware, gpus, devices, nodes, network, stack and set matter.
  CollectiveOptions asked;
  std::vector<std::string> route;  ///< two vertices, or none
  std::string bytes;               ///< of a transfer along `route`, or sizes of a collective
  Format format = Format::table;
  ReportFile report;
};

struct MemoryArguments {
  PredictOptions options;    ///< without a batch
  std::vector<int> batches;  ///< per GPU; none: the network's, several: a table of them
  Format format = Format::table;
  MemoryView view = MemoryView::structure;
  bool max_batch = false;
  ReportFile report;
};

struct NetworkArguments {
  PredictOptions options;
  std::optional<double> target;  ///< a share; absent: the analysis's own
  std::optional<int> top;        ///< arrays in the table; absent: the report's own
  Format format = Format::table;
  ReportFile report;
};

struct CompareArguments {
  std::vector<std::pair<std::string, std::string>> axes;  ///< options (without dashes) and their lists, in table order
  std::vector<std::string> set;                           ///< KEY=VALUE
  std::optional<int> base;                                ///< candidate that the others are set against, from 1
  std::optional<CostTerms> terms;                         ///< on which they are paid for; absent: none was given
  std::string prices;                                     ///< price list of the user's own; empty: none
  Format format = Format::table;
  ReportFile report;
  Progress* progress = nullptr;  ///< told how far the work is
};

struct PlanArguments {
  plan::PlanOptions plan;
  bool explain = false;               ///< also plans of other clusters
  std::string framework;              ///< whose settings of the best layout are written; empty: the rows are
  std::string output;                 ///< file for what a part has found; empty: the plan is printed
  std::vector<std::string> joined{};  ///< files of all parts; none: it searches
  ReportFile report;
  std::string prices;  ///< price list of the user's own; empty: none
  Format format = Format::table;
};

struct SweepArguments {
  std::vector<std::pair<std::string, std::string>> axes;  ///< options (without dashes) and their lists
  std::vector<std::string> set;                           ///< KEY=VALUE
  std::vector<std::string> words;                         ///< "export" or "merge" with files; none: sweep
  std::string grid;                                       ///< scenario file whose grid is swept
  std::string output;                                     ///< its ending tells the form: SQLite, CSV or lines of JSON
  std::size_t shard = 0, shards = 1;
  bool pareto = false;                    ///< of an export: the front alone
  std::optional<std::int64_t> samples{};  ///< of an epoch, whose time rows of text have then
  std::optional<Format> format;           ///< of an export; absent: csv
  ReportFile report;
};

struct ExplainArguments {
  PredictOptions options;
  bool layers = false;   ///< also what mixed precision does for each
  std::string measured;  ///< speed that was seen; empty: none
  Format format = Format::table;
  ReportFile report;
  Progress* progress = nullptr;  ///< told how far the work is
};

struct DocsArguments {
  std::string kind;  ///< "man", "bash" or "zsh"
};

using Arguments = std::variant<PredictArguments, PlanArguments, NetworkArguments, ScaleArguments, MemoryArguments,
                               CompareArguments, SweepArguments, ExplainArguments, ValidateArguments, ListArguments,
                               ShowArguments, TopologyArguments, DocsArguments>;

}  // namespace tbdsim
