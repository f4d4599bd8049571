#include "model/configuration/option_table.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "model/configuration/read_option.hpp"
#include "model/configuration/row_options.hpp"
#include "model/configuration/study_grid.hpp"
#include "tests/catch.hpp"

namespace tbdsim {
namespace {

std::vector<Verb> verbs_of(const OptionRow& row) {
  std::vector<Verb> verbs;
  for (const VerbRow& verb : verb_table())
    if (row.verbs.has(verb.verb)) verbs.push_back(verb.verb);
  return verbs;
}

bool of_job(const OptionRow& row) {
  return !std::holds_alternative<std::monostate>(row.landing) && row.about != About::collective;
}

/// A value that the option takes and that is not its default.
std::string sample_of(const OptionRow& row) {
  if (std::holds_alternative<std::optional<int> PredictOptions::*>(row.landing) ||
      std::holds_alternative<int PredictOptions::*>(row.landing))
    return "3";
  if (std::holds_alternative<std::vector<int> PredictOptions::*>(row.landing)) return "0,3";
  if (std::holds_alternative<std::vector<std::string> PredictOptions::*>(row.landing)) return "hw.host.cores=4";
  if (std::holds_alternative<std::optional<Bytes> RowSettings::*>(row.landing)) return "1 MiB";
  return "some-name";
}

/// Every member in which options can land, as text: what an option changes.
std::map<std::string, std::string> members_of(const RowSettings& s) {
  const PredictOptions& o = s.options;
  const auto number = [](const std::optional<int>& n) { return n ? std::to_string(*n) : "-"; };
  std::string devices, set;
  for (const int device : o.devices) devices += std::to_string(device) + ' ';
  for (const std::string& assignment : o.set) set += assignment + ' ';
  return {{"hw", o.hardware},
          {"model", o.model},
          {"stack", o.stack},
          {"gpus", number(o.gpus)},
          {"nodes", number(o.nodes)},
          {"devices", devices},
          {"network", o.network},
          {"batch", number(o.batch)},
          {"accumulate", number(o.accumulate)},
          {"image", number(o.image)},
          {"seq-len", number(o.seq_len)},
          {"buckets", o.buckets ? "yes" : ""},
          {"precision", o.precision},
          {"exchange", o.exchange},
          {"optimizer", o.optimizer},
          {"input", o.input},
          {"storage", o.storage},
          {"workers", number(o.workers)},
          {"input-hosts", number(o.input_hosts)},
          {"mock-loader", o.mock_loader ? "yes" : ""},
          {"mock-trainer", o.mock_trainer ? "yes" : ""},
          {"recompute", o.recompute},
          {"zero", number(o.zero)},
          {"tensor-parallel", number(o.tensor_parallel)},
          {"sequence-parallel", o.sequence_parallel},
          {"context-parallel", number(o.context_parallel)},
          {"expert-parallel", number(o.expert_parallel)},
          {"expert-tensor-parallel", number(o.expert_tensor_parallel)},
          {"pipeline-parallel", number(o.pipeline_parallel)},
          {"virtual-stages", number(o.virtual_stages)},
          {"first-stage-layers", number(o.first_stage_layers)},
          {"last-stage-layers", number(o.last_stage_layers)},
          {"stage-layers", o.stage_layers},
          {"schedule", o.schedule},
          {"offload", o.offload},
          {"offload-share", o.offload_share},
          {"offload-layers", number(o.offload_layers)},
          {"attention", o.attention},
          {"global-batch", number(o.global_batch)},
          {"layout-from", o.layout_from},
          {"unmodelled", o.unmodelled},
          {"set", set},
          {"seed", std::to_string(o.seed)},
          {"collective", s.collective},
          {"nccl", s.nccl},
          {"launch", s.launch},
          {"bytes", s.message ? std::to_string(s.message->base()) : ""}};
}

}  // namespace

TEST_CASE("every option stands once at each of its verbs, and its fields agree") {
  std::set<std::pair<Verb, std::string_view>> names;
  for (const OptionRow& row : option_table()) {
    CAPTURE(row.name);
    CHECK_FALSE(row.verbs.empty());
    for (const Verb verb : verbs_of(row)) CHECK(names.emplace(verb, row.name).second);
    for (const VerbRow& verb : verb_table())
      if (row.lists.has(verb.verb)) CHECK(row.verbs.has(verb.verb));
    CHECK_FALSE(row.help.empty());
    CHECK(row.help.find('\n') == std::string_view::npos);
    CHECK(row.least <= row.most);
    CHECK(row.flag() == (expected_value(row).empty() && row.value.empty() && row.words.empty()));
    if (std::holds_alternative<bool PredictOptions::*>(row.landing)) CHECK(row.flag());
    // Files and `--set` reach options of a job or of a collective alone, which land where those are read.
    if (row.stands(kInColumn) || row.stands(kInRow) || row.stands(kInSet))
      CHECK_FALSE(std::holds_alternative<std::monostate>(row.landing));
    if (row.stands(kInColumn) || row.stands(kInSet)) CHECK(of_job(row));
    if (!row.words.empty() && !row.fallback.empty() && row.words.find(row.fallback) == std::string_view::npos)
      CHECK((row.word || row.fallback == "the stack's" || row.name == "optimizer" || row.name == "launch" ||
             row.name == "precision"));
  }
}

TEST_CASE("keys and names of places are unique, and find their row") {
  for (const Place place : {kInColumn, kInRow, kInSet, kInClaim}) {
    std::map<std::string, const OptionRow*> keys;
    for (const OptionRow& row : option_table()) {
      if (!row.stands(place)) continue;
      CAPTURE(row.name);
      // --layers of two verbs is one name of claims; all others are one row.
      if (row.name == "layers") continue;
      CHECK(keys.emplace(key_of(row), &row).second);
      CHECK(find_option(row.name, place) == &row);
      CHECK(find_key(key_of(row), place) == &row);
    }
  }
  CHECK(key_of(*find_option("batch", kInColumn)) == "batch_per_gpu");
  CHECK(find_key("batch", kInSet) == find_key("batch_per_gpu", kInSet));
  CHECK(find_key("seq_len", kInSet)->name == "seq-len");
  CHECK(find_option("trace", kInClaim) == nullptr);
  CHECK(find_option("hw", kInRow) == nullptr);
  CHECK(find_key("buckets", kInSet) == nullptr);
}

TEST_CASE("every option changes its own member and no other") {
  std::set<std::string> reached;
  const auto before = members_of({});
  for (const OptionRow& row : option_table()) {
    if (std::holds_alternative<std::monostate>(row.landing)) continue;
    CAPTURE(row.name);
    RowSettings settings;
    REQUIRE(read_option(row, sample_of(row), settings).empty());
    const std::string own(row.name == "what-if" || row.name == "calibration" ? "set" : row.name);
    for (const auto& [member, value] : members_of(settings)) {
      CAPTURE(member);
      CHECK((value != before.at(member)) == (member == own));
    }
    reached.insert(own);
  }
  CHECK(reached.size() == before.size());
}

TEST_CASE("numbers are refused on both sides of their bounds") {
  for (const OptionRow& row : option_table()) {
    const bool number = std::holds_alternative<std::optional<int> PredictOptions::*>(row.landing) ||
                        std::holds_alternative<int PredictOptions::*>(row.landing);
    if (!number) continue;
    CAPTURE(row.name);
    RowSettings settings;
    CHECK(read_option(row, std::to_string(row.least), settings).empty());
    CHECK(read_option(row, std::to_string(row.most), settings).empty());
    CHECK(read_option(row, std::to_string(std::int64_t{row.least} - 1), settings) == expected_value(row));
    CHECK_FALSE(read_option(row, std::to_string(std::int64_t{row.most} + 1), settings).empty());
    CHECK(read_option(row, "4x", settings) == expected_value(row));
    CHECK(read_option(row, "", settings) == expected_value(row));
  }
  const OptionRow& batch = *find_option("batch", kInRow);
  PredictOptions options;
  CHECK(read_option(batch, "0", options, Range::left_to_analysis).empty());
  CHECK(options.batch == 0);
  CHECK(read_option(batch, "many", options, Range::left_to_analysis) == "a whole number");
  CHECK(read_option(batch, "2147483648", options, Range::left_to_analysis) == "a whole number of at most 2147483647");
  CHECK(read_option(*find_option("zero", kInRow), "4", options, Range::checked) == "a whole number from 0 to 3");
}

TEST_CASE("names, GPUs, assignments and sizes are refused with what was expected") {
  RowSettings settings;
  CHECK(read_option(*find_option("stack", kInRow), "", settings) == "a name");
  CHECK(read_option(*find_option("devices", kInRow), "0,x", settings) == "different GPU numbers such as 0,3");
  CHECK(read_option(*find_option("devices", kInRow), "0,0", settings) == "different GPU numbers such as 0,3");
  CHECK(read_option(*find_option("devices", kInRow), "", settings) == "different GPU numbers such as 0,3");
  CHECK(read_option(*find_option("set", kInRow), "=4", settings) == "KEY=VALUE");
  CHECK(read_option(*find_option("set", kInRow), "batch=", settings) == "KEY=VALUE");
  CHECK(read_option(*find_option("bytes", kInRow), "0", settings) == "a size such as \"1 MiB\"");
  CHECK(read_option(*find_option("bytes", kInRow), "1,2", settings) == "a size such as \"1 MiB\"");
}

TEST_CASE("what the columns and the axes of studies take is what the table says") {
  for (const OptionRow& row : option_table()) {
    if (!row.stands(kInRow) && !row.stands(kInColumn)) continue;
    if (row.name == "calibration") continue;  // of a file that must exist: anchor_file_test.cpp
    CAPTURE(row.name);
    const std::string name(row.name), value = row.flag() ? "true" : sample_of(row);
    RowSettings settings;
    std::set<std::string> given;
    const std::string text = row.flag() ? "--" + name : "--" + name + "='" + value + "'";
    CHECK(apply_row_options(text, settings, given).empty() == row.stands(kInRow));
    const auto job = options_of({{name, value}}, {});
    CHECK(job.has_value() == of_job(row));
    if (!job) continue;
    RowSettings changed;
    changed.options = *job;
    CHECK(members_of(changed).at(name) != members_of({}).at(name));
  }
  CHECK(parse_axis("workers", "1..4*2")->values == std::vector<std::string>{"1", "2", "4"});
  CHECK(parse_axis("stack", "a,b")->values == std::vector<std::string>{"a", "b"});
  CHECK_FALSE(options_of({{"mock-loader", "false"}}, {})->mock_loader);
  CHECK(to_text(options_of({{"mock-loader", "no"}}, {}).error()) == "--mock-loader: expected true or false, got \"no\"\n");
  CHECK(to_text(options_of({{"seed", "2"}}, {}).error()) == "--seed: no option of a job\n");
}

TEST_CASE("help says what an option takes and what holds without it") {
  CHECK(shown_value(*find_option("batch", kInRow), Verb::predict) == "N");
  CHECK(shown_value(*find_option("batch", kInRow), Verb::compare) == "LIST");
  CHECK(shown_value(*find_option("model", kInColumn), Verb::scale) == "A,B,...");
  CHECK(shown_value(*find_option("buckets", kInRow), Verb::predict).empty());
  CHECK(shown_help(*find_option("precision", kInRow)) == "Arithmetic: fp32, tf32, fp16, bf16, amp, fp8, mxfp8 [fp32]");
  CHECK(takes_lists(Verb::memory));
  CHECK_FALSE(takes_lists(Verb::predict));
  CHECK(options_of(Verb::calibrate).empty());
}

}  // namespace tbdsim
