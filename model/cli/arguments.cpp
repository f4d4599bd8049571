// Long because one file includes CLI11: every option of every verb.
#include "model/cli/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <functional>

#include "model/analysis/row_options.hpp"
#include "model/analysis/what_if.hpp"
#include "model/cli/verb_help.hpp"
#include "model/input/value_list.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"
#include "model/units/parse.hpp"

namespace tbdsim {
namespace {

constexpr int kUsage = 2;
constexpr std::size_t kHelpColumn = 24;  ///< leaves room for 56 characters of text in 80 columns

/// Takes an option's text; returns what was expected instead, or nothing if it is fine.
using Setter = std::function<std::string(const std::string&)>;

void add(CLI::App& verb, const std::string& name, const std::string& value, const std::string& help, Setter set) {
  const auto apply = [name, set = std::move(set)](const std::string& text) {
    const std::string expected = set(text);
    if (!expected.empty()) throw CLI::ValidationError(name, fmt::format("expected {}, got {}", expected, tbdsim::quoted(text)));
  };
  verb.add_option_function<std::string>(name, apply, help)->option_text(value);
}

void add_name(CLI::App& verb, const std::string& name, const std::string& value, const std::string& help, std::string& target) {
  add(verb, name, value, help, [&target](const std::string& text) -> std::string {
    target = text;
    return text.empty() ? "a name" : "";
  });
}

/// Whether a number is too small is the analysis' to say, where it knows what the number means.
void add_number(CLI::App& verb, const std::string& name, const std::string& help, std::optional<int>& target) {
  add(verb, name, "N", help, [&target](const std::string& text) -> std::string {
    target = whole_number(text, std::numeric_limits<int>::min());
    if (target) return "";
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    return digits ? fmt::format("a whole number of at most {}", std::numeric_limits<int>::max()) : "a whole number";
  });
}

void add_format(CLI::App& verb, Format& target) {
  add(verb, "--format", "table|json|csv", "How to write the result [table]", [&target](const std::string& text) -> std::string {
    if (text == "table")
      target = Format::table;
    else if (text == "json")
      target = Format::json;
    else if (text == "csv")
      target = Format::csv;
    else
      return "table, json or csv";
    return "";
  });
}

/// A command line that passes the width of a terminal goes on below, as in a shell.
std::string wrapped_command(const std::string& command) {
  constexpr std::size_t kWidth = 68;
  std::string text = command;
  for (std::size_t begin = 0; text.size() - begin > kWidth;) {
    const std::size_t blank = text.rfind(" --", begin + kWidth);
    if (blank == std::string::npos || blank <= begin) break;
    text.replace(blank, 1, " \\\n    ");
    begin = blank + 3;
  }
  return text;
}

/// "0,3" as numbers.
std::string set_devices(std::vector<int>& devices, const std::string& text) {
  devices.clear();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto device = whole_number(std::string_view(text).substr(begin, end - begin), 0);
    if (!device) return "GPU numbers such as 0,3";
    devices.push_back(*device);
    begin = end + 1;
  }
  return "";
}

/// "1281167", "256K" (thousands) or "2M".
std::string set_samples(std::optional<std::int64_t>& samples, std::string text) {
  std::int64_t unit = 1;
  if (!text.empty() && (text.back() == 'K' || text.back() == 'k')) unit = 1'000;
  if (!text.empty() && text.back() == 'M') unit = 1'000'000;
  if (unit > 1) text.pop_back();
  const auto count = whole_number(text, 1);
  if (!count) return "a number of samples such as 1281167 or 256K";
  samples = *count * unit;
  return "";
}

/// A bare number of 1 or more can only be meant in percent, and half the time it is not: the unit decides.
std::string set_share(std::optional<double>& share, const std::string& text) {
  const auto value = parse_quantity(text, Dimension::ratio);
  const bool bare = text.find('%') == std::string::npos;
  if (!value || *value < 0.0 || (bare && *value >= 1.0)) return "a share such as \"8 %\" or 0.08";
  share = *value;
  return "";
}

void add_set(CLI::App& verb, std::vector<std::string>& target) {
  verb.add_option("--set", target, "Change a value of an input file, such as\nhw.link.nvlink.bandwidth=2x; may be repeated")
      ->option_text("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_what_if(CLI::App& verb, std::vector<std::string>& set) {
  const auto take = [&set](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const auto what_if = find_what_if(name);
      if (!what_if) throw CLI::ValidationError("--what-if", what_if.error().front().message);
      set.insert(set.end(), what_if->set.begin(), what_if->set.end());
    }
    return true;
  };
  verb.add_option_function<std::vector<std::string>>(
          "--what-if", take, "A named change, such as amp or nvlink-2x; explain lists\nthem; may be repeated")
      ->option_text("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// "1,2,4,8", "1..8" or "4..128*2".
void add_counts(CLI::App& verb, const std::string& name, const std::string& help, std::vector<int>& target) {
  const auto apply = [name, &target](const std::string& text) {
    const auto list = parse_number_list(name, text);
    if (!list) throw CLI::ValidationError(name, list.error().front().message.substr(name.size() + 2));
    target.clear();
    for (const std::int64_t n : *list) {
      if (n < std::numeric_limits<int>::min() || n > std::numeric_limits<int>::max())
        throw CLI::ValidationError(name, fmt::format("{} is too large", n));
      target.push_back(static_cast<int>(n));
    }
  };
  verb.add_option_function<std::string>(name, apply, help)->option_text("LIST");
}

void add_workload(CLI::App& verb, PredictOptions& o) {
  add_name(verb, "--hw", "NAME|FILE", "System, or a GPU in a plain PCIe host", o.hardware);
  add_name(verb, "--model", "NAME|FILE", "Network, or .toml or .onnx file; NAME@tf: a variant", o.model);
}

void add_size(CLI::App& verb, PredictOptions& o) {
  add_number(verb, "--gpus", "GPUs of the job [all GPUs of --nodes nodes]", o.gpus);
  add_number(verb, "--nodes", "Nodes [1, or as many as --gpus fills]", o.nodes);
  add(verb, "--devices", "0,3", "These GPUs of every node [its first ones]",
      [&o](const std::string& text) { return set_devices(o.devices, text); });
}

/// What a job is apart from its hardware, network and size.
void add_job(CLI::App& verb, PredictOptions& o) {
  add_name(verb, "--network", "NAME", "Network between nodes [the system's]", o.network);
  add_number(verb, "--batch", "Samples per GPU and step [the network's, CNNs 32]", o.batch);
  add_number(verb, "--accumulate", "Micro-batches of --batch samples per update [1]", o.accumulate);
  add_number(verb, "--image", "Side of the image in pixels [the network's]", o.image);
  add_number(verb, "--seq-len", "Length of a sequence in tokens [the network's]", o.seq_len);
  verb.add_flag("--buckets", o.buckets, "Mean over the lengths of the network's data set");
  add_name(verb, "--precision", "NAME", "fp32, tf32, fp16, bf16 or amp [fp32]", o.precision);
  add_name(verb, "--stack", "NAME|FILE", "Framework and version, such as mxnet-1.2\n[newest PyTorch that supports the GPU]",
           o.stack);
  add_name(verb, "--exchange", "NAME", "How gradients are exchanged [allreduce]", o.exchange);
  add_name(verb, "--optimizer", "NAME", "sgd, sgd-momentum, adam, bert-adam, lamb, lars,\nnovograd [sgd-momentum for CNNs]",
           o.optimizer);
  add_name(verb, "--input", "NAME", "Where samples come from [the stack's]", o.input);
  add_name(verb, "--storage", "NAME",
           "What they are read from: list storage, page-cache,\nhost-memory or gpu-memory [memory, at no cost]", o.storage);
  add_number(verb, "--workers", "Threads of a node that decode samples [the stack's]", o.workers);
  verb.add_flag("--mock-loader", o.mock_loader, "Samples are there when they are needed");
  verb.add_flag("--mock-trainer", o.mock_trainer, "Only load samples");
  add_name(verb, "--recompute", "NAME",
           "none, block, layer or full: feature maps computed\nagain in backward instead of being kept [none]", o.recompute);
  add_set(verb, o.set);
  add_what_if(verb, o.set);
}

void add_seed(CLI::App& verb, PredictOptions& o) {
  add(verb, "--seed", "N", "Seed of anything random [1]", [&o](const std::string& text) -> std::string {
    const auto seed = whole_number(text, 0);
    o.seed = seed.value_or(o.seed);
    return seed ? "" : "a whole number of at least 0";
  });
}

/// The options that say what is to be predicted, for verbs of one job.
void describe_configuration(CLI::App& verb, PredictOptions& o) {
  add_workload(verb, o);
  add_size(verb, o);
  add_job(verb, o);
}

/// The options of jobs, each a list.
void describe_jobs(CLI::App& verb, std::vector<std::pair<std::string, std::string>>& axes) {
  constexpr std::pair<const char*, const char*> kOptions[] = {{"hw", "Systems or GPUs"},
                                                              {"model", "Networks"},
                                                              {"stack", "Frameworks and versions"},
                                                              {"gpus", "GPUs of the job: 1,2,4 or 1..8"},
                                                              {"nodes", "Nodes"},
                                                              {"devices", "These GPUs of every node (no list)"},
                                                              {"network", "Networks between nodes"},
                                                              {"batch", "Samples per GPU and step: 16,32 or 4..128*2"},
                                                              {"accumulate", "Micro-batches per update"},
                                                              {"image", "Sides of the image"},
                                                              {"seq-len", "Lengths of a sequence"},
                                                              {"precision", "fp32, tf32, fp16, bf16, amp"},
                                                              {"exchange", "How gradients are exchanged"},
                                                              {"optimizer", "Optimizers"},
                                                              {"input", "Where samples come from"},
                                                              {"storage", "What they are read from"},
                                                              {"workers", "Threads that decode samples"}};
  for (const auto& [option, help] : kOptions)
    add(verb, fmt::format("--{}", option), "A,B,...", help,
        [&axes, name = std::string(option)](const std::string& text) -> std::string {
          axes.emplace_back(name, text);
          return text.empty() ? "a list" : "";
        });
}

void describe_compare(CLI::App& verb, CompareArguments& a) {
  describe_jobs(verb, a.axes);
  add_set(verb, a.set);
  add_what_if(verb, a.set);
  add(verb, "--base", "N", "Candidate that the others are set against [1]", [&a](const std::string& text) -> std::string {
    const auto base = whole_number(text, 1);
    a.base = base.value_or(1);
    return base ? "" : "a whole number of at least 1";
  });
  add_format(verb, a.format);
}

/// "2/8": the second of eight shards.
std::string set_shard(SweepArguments& a, const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto index = whole_number(std::string_view(text).substr(0, slash), 1);
  const auto count = slash < text.size() ? whole_number(std::string_view(text).substr(slash + 1), 1) : std::nullopt;
  if (!index || !count || *index > *count) return "a shard such as 2/8";
  a.shard = static_cast<std::size_t>(*index - 1);
  a.shards = static_cast<std::size_t>(*count);
  return "";
}

void describe_sweep(CLI::App& verb, SweepArguments& a) {
  verb.add_option("ACTION", a.words, "export FILE, or merge FILE FROM...; none: sweep")->option_text("...");
  describe_jobs(verb, a.axes);
  add_set(verb, a.set);
  add_what_if(verb, a.set);
  add_name(verb, "--grid", "FILE", "Axes from the [grid] of a scenario; options replace them", a.grid);
  add_name(verb, "-o,--output", "FILE", "SQLite file for the rows; one that exists is resumed", a.output);
  verb.add_flag("--pareto", a.pareto, "Export only what nothing beats in time, cost and memory");
  add(verb, "--shard", "I/N", "Only this part of the grid [1/1]", [&a](const std::string& text) { return set_shard(a, text); });
  add_format(verb, a.format);
}

void describe_explain(CLI::App& verb, ExplainArguments& a) {
  describe_configuration(verb, a.options);
  add_format(verb, a.format);
}

void describe_predict(CLI::App& verb, PredictArguments& a) {
  PredictOptions& o = a.options;
  describe_configuration(verb, o);
  verb.add_flag("--layers", a.layers, "Also the time of every layer");
  verb.add_flag("--kernels", a.kernels, "Also the time and utilisation of every kernel");
  add_name(verb, "--report", "FILE", "Write everything as one HTML page, readable offline", a.report);
  verb.add_flag("--links", a.links, "Also the bytes and busy share of every link");
  verb.add_flag("--profiling", a.profiling, "Also what profiling the job would cost");
  add_number(verb, "--skip", "Steps before those that are profiled [50]", a.skip);
  add_number(verb, "--iterations", "Steps that are profiled [3]", a.iterations);
  add_name(verb, "--trace", "FILE", "Write the kernels of a step as a Chrome trace (JSON)", a.trace);
  add(verb, "--samples", "N", "Samples of an epoch, such as 1281167 or 256K: also\nthe time of an epoch",
      [&a](const std::string& text) { return set_samples(a.samples, text); });
  add(verb, "--epochs", "N", "Epochs of a run, start-up included [1]", [&a](const std::string& text) -> std::string {
    a.epochs = whole_number(text, 1);
    return a.epochs ? "" : "a whole number of at least 1";
  });
  add_seed(verb, o);
  add_format(verb, a.format);
}

void describe_scale(CLI::App& verb, ScaleArguments& a) {
  add_workload(verb, a.options);
  add_counts(verb, "--gpus", "GPUs of the job: 1,2,4,8 or 1..8 or 8..128*2", a.gpus);
  add_counts(verb, "--nodes", "Nodes, in the same ways [as many as --gpus fills]", a.nodes);
  add(verb, "--samples", "N", "Samples of an epoch, such as 1281167 or 256K",
      [&a](const std::string& text) { return set_samples(a.samples, text); });
  verb.add_flag("--weak", a.weak, "The data set grows with the GPUs");
  verb.add_flag("--fixed-global-batch", a.fixed_global_batch, "--batch is that of all GPUs together");
  add_job(verb, a.options);
  add_seed(verb, a.options);
  add_format(verb, a.format);
}

void describe_memory(CLI::App& verb, MemoryArguments& a) {
  describe_configuration(verb, a.options);
  add_number(verb, "--zero", "ZeRO stage: 1 shards optimiser state over the GPUs,\n2 also gradients, 3 also weights [0]",
             a.options.zero);
  add_number(verb, "--tensor-parallel", "GPUs that share each layer, as Megatron does [1]", a.options.tensor_parallel);
  add_number(verb, "--pipeline",
             "Stages of whole layers, --accumulate micro-batches\nin turn (1F1B); the other GPUs are data parallel [1]",
             a.options.pipeline);
  add(verb, "--by", "structure|layer|time", "How to break it down [structure]", [&a](const std::string& text) -> std::string {
    if (text == "structure")
      a.view = MemoryView::structure;
    else if (text == "layer")
      a.view = MemoryView::layer;
    else if (text == "time")
      a.view = MemoryView::time;
    else
      return "structure, layer or time";
    return "";
  });
  verb.add_flag("--max-batch", a.max_batch, "Also search the largest batch per GPU that fits");
  add_format(verb, a.format);
}

void describe_network(CLI::App& verb, NetworkArguments& a) {
  add_workload(verb, a.options);
  add_size(verb, a.options);
  add_job(verb, a.options);
  add(verb, "--target", "SHARE", "Efficiency that the nodes should reach [90 %]",
      [&a](const std::string& text) { return set_share(a.target, text); });
  add_number(verb, "--top", "Arrays in the table, most exposed first [20]", a.top);
  add_format(verb, a.format);
}

void describe_validate(CLI::App& verb, ValidateArguments& a) {
  verb.add_option("FILE", a.files, "Measured-run tables (CSV), scenarios (TOML), folders")->option_text("...");
  verb.add_flag("--rows", a.rows, "Also the error of every row (table format)");
  verb.add_flag("--summary", a.summary, "One line a published table, not one a device");
  add(verb, "--max-mean-ape", "SHARE", "Fail (exit code 1) above this mean error, such as 8%",
      [&a](const std::string& text) { return set_share(a.max_mean_ape, text); });
  add_format(verb, a.format);
}

void add_bytes(CLI::App& verb, std::optional<Bytes>& target) {
  add(verb, "--bytes", "SIZE", "Also the time to move so much, such as 1PB", [&target](const std::string& text) -> std::string {
    const auto size = parse<Bytes>(text);
    if (!size || size->base() <= 0.0) return "a size such as 1PB";
    target = *size;
    return "";
  });
}

void describe_list(CLI::App& verb, ListArguments& a) {
  verb.add_option("KIND", a.kind, "gpus systems networks hosts storage inputs data-paths\nstacks models")->option_text(" ");
  verb.add_flag_callback(
      "--models", [&a] { a.kind = "models"; }, "The same as the kind models");
  add_bytes(verb, a.bytes);
  add_format(verb, a.format);
}

void describe_show(CLI::App& verb, ShowArguments& a) {
  verb.add_option("NAME", a.name, "GPU, system, network, host, stack, model, .onnx file")->option_text(" ");
  add_number(verb, "--image", "Side of a model's input in pixels [its own]", a.image);
  add_number(verb, "--seq-len", "Length of a model's sequences in tokens [its own]", a.seq_len);
  add_bytes(verb, a.bytes);
  add_format(verb, a.format);
}

void describe_topology(CLI::App& verb, TopologyArguments& a) {
  constexpr int kMostVertices = 2 * 64;
  PredictOptions& o = a.asked.options;
  add_name(verb, "--hw", "NAME|FILE", "System, or a GPU in a plain PCIe host", o.hardware);
  add_number(verb, "--gpus", "GPUs of the job [all GPUs of --nodes nodes]", o.gpus);
  add_number(verb, "--nodes", "Nodes of a collective [1, or as many as --gpus fills]", o.nodes);
  add(verb, "--devices", "0,3", "These GPUs of every node",
      [&o](const std::string& text) { return set_devices(o.devices, text); });
  add_name(verb, "--network", "NAME", "Network between nodes [the system's]", o.network);
  verb.add_option("--route", a.route,
                  "The way between two vertices, such as gpu0 gpu5; with\nfurther pairs, what each gets at the same time")
      ->option_text("A B...")
      ->expected(2, kMostVertices);
  add_name(verb, "--collective", "NAME",
           "all-reduce, reduce-scatter, all-gather, reduce,\nbroadcast or all-to-all: time and bandwidth by --bytes",
           a.asked.collective);
  add_name(verb, "--bytes", "SIZES", "Of a transfer along --route, such as \"1 MiB\", or of a\ncollective [1KiB..1GiB]", a.bytes);
  add_name(verb, "--nccl", "VERSION", "Release of NCCL [the stack's, without a stack 2.12]", a.asked.nccl);
  add_name(verb, "--launch", "NAME", "one-process, process-per-gpu or framework [not known]", a.asked.launch);
  add_name(verb, "--stack", "NAME|FILE", "Framework and version, for its NCCL", o.stack);
  add_set(verb, o.set);
  add_format(verb, a.format);
}

void describe_docs(CLI::App& verb, DocsArguments& a) {
  verb.add_option("KIND", a.kind, "man: the manual page; bash, zsh: completion")->option_text(" ");
}

/// Every verb with its options, bound to where they go.
struct CommandLine {
  CLI::App app{"Predicts how fast a DNN trains on described hardware, how far it scales and\nwhether it fits.", "tbdsim"};
  PredictArguments predict;
  CompareArguments compare;
  SweepArguments sweep;
  ExplainArguments explain;
  NetworkArguments network;
  ScaleArguments scale;
  MemoryArguments memory;
  ValidateArguments validate;
  ListArguments list;
  ShowArguments show;
  TopologyArguments topology;
  DocsArguments docs;

  CommandLine() {
    app.set_version_flag("--version", "tbdsim " TBDSIM_VERSION, "Print the version");
    app.set_help_flag("-h,--help", "Print this help");
    app.get_formatter()->column_width(kHelpColumn);
    app.require_subcommand(1);
    describe_predict(verb("predict", "Step time, throughput, stages, limit, memory and cost"), predict);
    describe_compare(verb("compare", "Several jobs side by side: speed-up, memory, price"), compare);
    describe_sweep(verb("sweep", "A grid of jobs into a file, resumable"), sweep);
    describe_explain(verb("explain", "What limits a step, its health, and what would help"), explain);
    describe_network(verb("network", "Which arrays delay several nodes, and whether they pay"), network);
    describe_scale(verb("scale", "Epoch time, speed-up and efficiency over GPUs and nodes"), scale);
    describe_memory(verb("memory", "Memory of each GPU, what it is held for, largest batch"), memory);
    describe_validate(verb("validate", "Predictions against measured runs"), validate);
    describe_topology(verb("topology", "Links, relations of GPUs, rings and routes of a node"), topology);
    describe_list(verb("list", "What the catalogue holds"), list);
    describe_show(verb("show", "One entry of the catalogue with its sources"), show);
    describe_docs(verb("docs", "Manual page and completion scripts, for packages"), docs);
    verb("calibrate", "Kernel parameters from samples (tbdsim-calibrate)");
  }

  [[nodiscard]] std::vector<std::string> verbs() const {
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(sub->get_name());
    return names;
  }

 private:
  CLI::App& verb(const std::string& name, const std::string& description) {
    CLI::App* sub = app.add_subcommand(name, description);
    sub->set_help_flag("-h,--help", "Print this help");
    std::string footer;
    for (const Example& example : examples(name))
      footer += fmt::format("{}{}\n  tbdsim {}\n", footer.empty() ? "Examples:\n" : "", example.question,
                            wrapped_command(example.command));
    sub->footer(footer);
    return *sub;
  }
};

/// The options of a verb as its help shows them.
VerbHelp described(const CLI::App& verb) {
  VerbHelp help{verb.get_name(), verb.get_description(), {}};
  for (const CLI::Option* option : verb.get_options()) {
    if (option == verb.get_help_ptr()) continue;
    const auto& names = option->get_lnames();
    const std::string name = names.empty()
                                 ? option->get_snames().empty() ? option->get_single_name() : "-" + option->get_snames().front()
                                 : "--" + names.front();
    const std::string value = option->get_option_text();
    help.options.push_back({name, value == " " || value == "..." ? "" : value, option->get_description()});
  }
  return help;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  return near ? fmt::format(", did you mean \"{}\"?", *near) : "";
}

std::string unexpected_word(const CLI::App& verb, const std::string& word) {
  if (word.empty() || word.front() != '-') return fmt::format("{}: unexpected word {}", verb.get_name(), tbdsim::quoted(word));
  std::vector<std::string> known;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string name = word.substr(0, word.find('='));
  return fmt::format("{}: unknown option {}{}", verb.get_name(), tbdsim::quoted(name), suggestion(name, known));
}

/// What is wrong with the options of the verb that was given, in this program's words.
std::string usage_problem(const CommandLine& line, const CLI::ParseError& error) {
  const CLI::App& verb = *line.app.get_subcommands().front();
  const std::string message = error.what();
  const std::string name = message.substr(0, message.find(':'));
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
    case CLI::ExitCodes::ExtrasError:
      return unexpected_word(verb, verb.remaining().front());
    case CLI::ExitCodes::ArgumentMismatch:
      if (message.find("At Most") != std::string::npos) return fmt::format("{}: {} is given twice", verb.get_name(), name);
      return fmt::format("{}: {}: value missing", verb.get_name(), name);
    default:
      return fmt::format("{}: {}", verb.get_name(), message);
  }
}

/// What CLI11 would take for a word without meaning.
std::optional<Stop> wrong_verb(const CommandLine& line, int argc, char** argv) {
  const std::vector<std::string> verbs = line.verbs();
  if (argc < 2) return Stop{kUsage, fmt::format("expected a verb: {} (tbdsim --help tells more)", fmt::join(verbs, ", "))};
  const std::string word = argv[1];
  if (std::find(verbs.begin(), verbs.end(), word) != verbs.end()) return std::nullopt;
  if (word.empty() || word.front() != '-')
    return Stop{kUsage, fmt::format("unknown verb {}{}\nverbs are {}", tbdsim::quoted(word), suggestion(word, verbs),
                                    fmt::join(verbs, ", "))};
  for (const char* known : {"-h", "--help", "--version"}) {
    if (word == known) return std::nullopt;
  }
  return Stop{kUsage, fmt::format("expected a verb before {}: {}", tbdsim::quoted(word), fmt::join(verbs, ", "))};
}

tl::expected<Arguments, Stop> chosen(const CommandLine& line) {
  const std::string verb = line.app.get_subcommands().front()->get_name();
  if (verb == "predict") return line.predict;
  if (verb == "compare") return line.compare;
  if (verb == "sweep") return line.sweep;
  if (verb == "explain") return line.explain;
  if (verb == "network") return line.network;
  if (verb == "scale") return line.scale;
  if (verb == "memory") return line.memory;
  if (verb == "list") return line.list;
  if (verb == "docs") return line.docs;
  if (verb == "validate") {
    if (line.validate.files.empty())
      return tl::make_unexpected(Stop{kUsage, "validate: expected a measured-run table (CSV) or a scenario (TOML)"});
    return line.validate;
  }
  if (verb == "show") {
    if (line.show.name.empty())
      return tl::make_unexpected(Stop{kUsage, "show: expected a name; tbdsim list shows what there is"});
    return line.show;
  }
  if (line.topology.asked.options.hardware.empty())
    return tl::make_unexpected(Stop{kUsage, "topology: no hardware named; use --hw, such as --hw dgx1"});
  return line.topology;
}

}  // namespace

std::vector<VerbHelp> verb_help() {
  const CommandLine line;
  std::vector<VerbHelp> verbs;
  for (const CLI::App* sub : line.app.get_subcommands([](const CLI::App*) { return true; })) verbs.push_back(described(*sub));
  return verbs;
}

tl::expected<Arguments, Stop> parse_arguments(int argc, char** argv) {
  CommandLine line;
  if (auto stop = wrong_verb(line, argc, argv)) return tl::make_unexpected(std::move(*stop));
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    return tl::make_unexpected(Stop{0, fmt::format("{}\n", version.what())});
  } catch (const CLI::CallForHelp&) {
    return tl::make_unexpected(Stop{0, line.app.help()});
  } catch (const CLI::ParseError& error) { return tl::make_unexpected(Stop{kUsage, usage_problem(line, error)}); }
  return chosen(line);
}

}  // namespace tbdsim
