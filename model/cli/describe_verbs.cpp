#include "model/cli/describe_verbs.hpp"

#include <fmt/format.h>

#include <limits>

#include "model/analysis/anchor_file.hpp"
#include "model/analysis/row_options.hpp"
#include "model/analysis/what_if.hpp"
#include "model/cli/option_values.hpp"
#include "model/input/value_list.hpp"
#include "model/units/parse.hpp"

namespace tbdsim {
namespace {

void add_format(VerbOptions& verb, Format& target) {
  verb.option("--format", "table|json|csv", "How to write the result: csv the main table, json all\n[table]",
              [&target](const std::string& text) { return set_format(target, text); });
}

void add_set(VerbOptions& verb, std::vector<std::string>& set) {
  verb.repeated_option("--set", "KEY=VALUE",
                       "Change a value of an input file, such as\nhw.link.nvlink.bandwidth=2x; may be repeated",
                       [&set](const std::string& text) -> std::string {
                         if (std::string problem = contradiction(set, text); !problem.empty()) return problem;
                         set.push_back(text);
                         return "";
                       });
}

/// Multipliers that `calibrate anchor` fitted act as values of the device.
void add_calibration(VerbOptions& verb, std::vector<std::string>& set) {
  verb.repeated_option("--calibration", "FILE", "Multipliers that calibrate anchor fitted to steps of\nyour own",
                       [&set](const std::string& name) -> std::string {
                         const auto changes = anchor_assignments(name);
                         if (!changes) return to_text(changes.error());
                         for (const std::string& change : *changes)
                           if (std::string problem = contradiction(set, change); !problem.empty()) return problem;
                         set.insert(set.end(), changes->begin(), changes->end());
                         return "";
                       });
}

void add_what_if(VerbOptions& verb, std::vector<std::string>& set) {
  verb.repeated_option("--what-if", "NAME", "A named change, such as amp or nvlink-2x; explain lists\nthem; may be repeated",
                       [&set](const std::string& name) -> std::string {
                         const auto what_if = find_what_if(name);
                         if (!what_if) return what_if.error().front().message;
                         for (const std::string& change : what_if->set)
                           if (std::string problem = contradiction(set, change); !problem.empty()) return problem;
                         set.insert(set.end(), what_if->set.begin(), what_if->set.end());
                         return "";
                       });
}

/// "1,2,4,8", "1..8" or "4..128*2".
void add_counts(VerbOptions& verb, const std::string& name, const std::string& help, std::vector<int>& target) {
  verb.checked_option(name, "LIST", help, [name, &target](const std::string& text) -> std::string {
    const auto list = parse_number_list(name, text);
    if (!list) return list.error().front().message.substr(name.size() + 2);
    target.clear();
    for (const std::int64_t n : *list) {
      if (n < std::numeric_limits<int>::min() || n > std::numeric_limits<int>::max()) return fmt::format("{} is too large", n);
      target.push_back(static_cast<int>(n));
    }
    return "";
  });
}

void add_workload(VerbOptions& verb, PredictOptions& o) {
  verb.name_option("--hw", "NAME|FILE", "System, or a GPU in a plain PCIe host", o.hardware);
  verb.name_option("--model", "NAME|FILE", "Network, or .toml or .onnx file; NAME@tf: a variant", o.model);
}

void add_size(VerbOptions& verb, PredictOptions& o) {
  verb.number_option("--gpus", "GPUs of the job [all GPUs of --nodes nodes]", o.gpus);
  verb.number_option("--nodes", "Nodes [1, or as many as --gpus fills]", o.nodes);
  verb.option("--devices", "0,3", "These GPUs of every node [its first ones]",
              [&o](const std::string& text) { return set_devices(o.devices, text); });
}

/// What a job is apart from its hardware, network and size. `lists`: of a table of studies; `batches`: of a table of batches.
void add_job(VerbOptions& verb, PredictOptions& o, ScaleArguments* lists = nullptr, std::vector<int>* batches = nullptr) {
  verb.name_option("--network", "NAME", "Network between nodes [the system's]", o.network);
  if (lists != nullptr)
    add_counts(verb, "--batch", "Samples per GPU and step: 16,32,64 [the network's,\nCNNs 32]", lists->batches);
  else if (batches != nullptr)
    add_counts(verb, "--batch", "Samples per GPU and step [the network's, CNNs 32];\n4..128*2 makes a table", *batches);
  else
    verb.number_option("--batch", "Samples per GPU and step [the network's, CNNs 32]", o.batch);
  verb.number_option("--accumulate", "Micro-batches of --batch samples per update [1]", o.accumulate);
  if (lists != nullptr)
    add_counts(verb, "--image", "Side of the image in pixels, one or one for each\nnetwork of --model [the network's]",
               lists->images);
  else
    verb.number_option("--image", "Side of the image in pixels [the network's]", o.image);
  verb.number_option("--seq-len", "Length of a sequence in tokens [the network's]", o.seq_len);
  verb.flag("--buckets", o.buckets, "Mean over the lengths of the network's data set");
  verb.name_option("--precision", "NAME", "fp32, tf32, fp16, bf16 or amp [fp32]", o.precision);
  verb.name_option("--stack", "NAME|FILE", "Framework and version, such as mxnet-1.2\n[newest PyTorch that supports the GPU]",
                   o.stack);
  verb.name_option("--exchange", lists != nullptr ? "A,B,..." : "NAME", "How gradients are exchanged [allreduce]", o.exchange);
  verb.name_option("--optimizer", "NAME",
                   "sgd, sgd-momentum, adam, adam-8bit, bert-adam, lamb,\nlars, novograd [sgd-momentum for CNNs]", o.optimizer);
  verb.name_option("--input", "NAME", "Where samples come from [the stack's]", o.input);
  verb.name_option("--storage", "NAME",
                   "What they are read from: list storage, page-cache,\nhost-memory or gpu-memory [memory, at no cost]",
                   o.storage);
  verb.number_option("--workers",
                     "Threads that decode samples: of a node, with PyTorch of\neach GPU's process (num_workers) [the stack's]",
                     o.workers);
  verb.number_option("--input-hosts",
                     "Other machines like the node's host that prepare\nsamples and send them over the network [0]",
                     o.input_hosts);
  verb.flag("--mock-loader", o.mock_loader, "Samples are there when they are needed");
  verb.flag("--mock-trainer", o.mock_trainer, "Only load samples");
  verb.name_option("--recompute", "NAME",
                   "none, block, layer, full (MXNet: mirror): feature\nmaps computed again in backward, not kept [none]",
                   o.recompute);
  add_set(verb, o.set);
  if (batches == nullptr) add_calibration(verb, o.set);  // memory does not depend on times
  add_what_if(verb, o.set);
}

void add_seed(VerbOptions& verb, PredictOptions& o) {
  verb.option("--seed", "N", "Seed of anything random [1]", [&o](const std::string& text) -> std::string {
    const auto seed = whole_number(text, 0);
    o.seed = seed.value_or(o.seed);
    return seed ? "" : "a whole number of at least 0";
  });
}

/// The options that say what is to be predicted, for verbs of one job.
void add_configuration(VerbOptions& verb, PredictOptions& o, std::vector<int>* batches = nullptr) {
  add_workload(verb, o);
  add_size(verb, o);
  add_job(verb, o, nullptr, batches);
}

/// The options of jobs, each a list.
void add_job_lists(VerbOptions& verb, std::vector<std::pair<std::string, std::string>>& axes) {
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
                                                              {"workers", "Threads that decode samples, as predict counts them"},
                                                              {"input-hosts", "Other machines that prepare samples"}};
  for (const auto& [option, help] : kOptions)
    verb.option(fmt::format("--{}", option), "A,B,...", help,
                [&axes, name = std::string(option)](const std::string& text) -> std::string {
                  axes.emplace_back(name, text);
                  return text.empty() ? "a list" : "";
                });
}

void add_bytes(VerbOptions& verb, std::optional<Bytes>& target) {
  verb.option("--bytes", "SIZE", "Also the time to move so much, such as 1PB", [&target](const std::string& text) -> std::string {
    const auto size = parse<Bytes>(text);
    if (!size || size->base() <= 0.0) return "a size such as 1PB";
    target = *size;
    return "";
  });
}

}  // namespace

void describe(VerbOptions verb, CompareArguments& a) {
  add_job_lists(verb, a.axes);
  add_set(verb, a.set);
  add_calibration(verb, a.set);
  add_what_if(verb, a.set);
  verb.option("--base", "N", "Candidate that the others are set against [1]", [&a](const std::string& text) -> std::string {
    const auto base = whole_number(text, 1);
    a.base = base.value_or(1);
    return base ? "" : "a whole number of at least 1";
  });
  add_format(verb, a.format);
}

void describe(VerbOptions verb, SweepArguments& a) {
  verb.words("ACTION", "export FILE, or merge FILE FROM...; none: sweep", a.words);
  add_job_lists(verb, a.axes);
  add_set(verb, a.set);
  add_calibration(verb, a.set);
  add_what_if(verb, a.set);
  verb.name_option("--grid", "FILE", "Axes from the [grid] of a scenario; options replace them", a.grid);
  verb.name_option("-o,--output", "FILE",
                   "FILE.db for the rows (SQLite), resumed where it exists;\nFILE.csv or FILE.jsonl: with FILE.csv.db beside it "
                   "to\nresume from. Of export: the file to write [stdout]",
                   a.output);
  verb.flag("--pareto", a.pareto, "Export only what nothing beats in time, cost and memory");
  verb.option("--shard", "I/N", "Only this part of the grid [1/1]",
              [&a](const std::string& text) { return set_shard(a.shard, a.shards, text); });
  verb.option("--format", "csv|json", "How to write an export [csv]", [&a](const std::string& text) {
    Format format = Format::table;
    const std::string expected = set_format(format, text);
    if (expected.empty() && format != Format::table) a.format = format;
    return a.format ? "" : "csv or json";
  });
}

void describe(VerbOptions verb, ExplainArguments& a) {
  add_configuration(verb, a.options);
  verb.flag("--layers", a.layers,
            "Also what mixed precision gains for every layer, and\nthe layers off the tensor cores (CSV: this alone)");
  add_format(verb, a.format);
}

void describe(VerbOptions verb, PredictArguments& a) {
  PredictOptions& o = a.options;
  add_configuration(verb, o);
  verb.flag("--layers", a.layers, "Also the time of every layer");
  verb.flag("--kernels", a.kernels, "Also the time and utilisation of every kernel");
  verb.name_option("--report", "FILE", "Write everything as one HTML page, readable offline", a.report);
  verb.flag("--links", a.links, "Also the bytes and busy share of every link");
  verb.flag("--host", a.host, "Also the time of host threads, input workers and\ncopies, by cause");
  verb.flag("--profiling", a.profiling, "Also what profiling the job would cost");
  verb.number_option("--skip", "Steps before those that are profiled [50]", a.skip);
  verb.number_option("--iterations", "Steps that are profiled [3]", a.iterations);
  verb.name_option("--trace", "FILE", "Write a step as a Chrome trace (JSON): kernels,\nexchanges, host threads, input", a.trace);
  verb.option("--samples", "N", "Samples of an epoch, such as 1281167 or 256K: also\nthe time of an epoch",
              [&a](const std::string& text) { return set_samples(a.samples, text); });
  verb.option("--epochs", "N", "Epochs of a run, start-up included [1]", [&a](const std::string& text) -> std::string {
    a.epochs = whole_number(text, 1);
    return a.epochs ? "" : fmt::format("a whole number from 1 to {}", std::numeric_limits<int>::max());
  });
  add_seed(verb, o);
  add_format(verb, a.format);
}

void describe(VerbOptions verb, ScaleArguments& a) {
  verb.name_option("--hw", "NAME|FILE", "System, or a GPU in a plain PCIe host", a.options.hardware);
  verb.name_option("--model", "A,B,...", "Networks, or .toml or .onnx files; NAME@tf: a variant", a.options.model);
  add_counts(verb, "--gpus", "GPUs of the job: 1,2,4,8 or 1..8 or 8..128*2", a.gpus);
  add_counts(verb, "--nodes", "Nodes, in the same ways [as many as --gpus fills]", a.nodes);
  verb.option("--samples", "N", "Samples of an epoch, such as 1281167 or 256K",
              [&a](const std::string& text) { return set_samples(a.samples, text); });
  verb.flag("--weak", a.weak, "The data set grows with the GPUs");
  verb.flag("--fixed-global-batch", a.fixed_global_batch, "--batch is that of all GPUs together");
  add_job(verb, a.options, &a);
  add_seed(verb, a.options);
  add_format(verb, a.format);
}

void describe(VerbOptions verb, MemoryArguments& a) {
  add_configuration(verb, a.options, &a.batches);
  verb.number_option("--zero", "ZeRO stage: 1 shards optimiser state over the GPUs,\n2 also gradients, 3 also weights [0]",
                     a.options.zero);
  verb.number_option("--tensor-parallel", "GPUs that share each layer, as Megatron does [1]", a.options.tensor_parallel);
  verb.number_option("--pipeline",
                     "Stages of whole layers, through which --accumulate\nmicro-batches go, forward and backward in turn [1]",
                     a.options.pipeline);
  verb.option("--by", "structure|layer|type|time", "How to break it down [structure]",
              [&a](const std::string& text) { return set_view(a.view, text); });
  verb.flag("--max-batch", a.max_batch, "Also search the largest batch per GPU that fits\n(CSV: this alone)");
  add_format(verb, a.format);
}

void describe(VerbOptions verb, NetworkArguments& a) {
  add_workload(verb, a.options);
  add_size(verb, a.options);
  add_job(verb, a.options);
  verb.option("--target", "SHARE", "Efficiency that the nodes should reach [90 %]",
              [&a](const std::string& text) { return set_share(a.target, text); });
  verb.number_option("--top", "Arrays in the table, most exposed first [20]", a.top);
  add_format(verb, a.format);
}

void describe(VerbOptions verb, ValidateArguments& a) {
  verb.words("FILE", "Measured-run tables (CSV), scenarios (TOML), folders", a.files);
  verb.flag("--rows", a.rows, "Also the error of every row (table format)");
  verb.flag("--summary", a.summary, "One line a published table, not one a device");
  verb.option("--max-mean-ape", "SHARE", "Fail (exit code 1) above this mean error, such as 8%",
              [&a](const std::string& text) { return set_share(a.max_mean_ape, text); });
  add_format(verb, a.format);
}

void describe(VerbOptions verb, ListArguments& a) {
  verb.word("KIND", "gpus systems networks hosts storage inputs data-paths\nstacks models", a.kind);
  verb.flag(
      "--models", [&a] { a.kind = "models"; }, "The same as the kind models");
  add_bytes(verb, a.bytes);
  add_format(verb, a.format);
}

void describe(VerbOptions verb, ShowArguments& a) {
  verb.word("NAME", "GPU, system, network, host, stack, model, file of one", a.name);
  verb.number_option("--image", "Side of a model's input in pixels [its own]", a.image);
  verb.number_option("--seq-len", "Length of a model's sequences in tokens [its own]", a.seq_len);
  verb.option("--as", "toml", "The file that describes it, to edit and to give back",
              [&a](const std::string& text) -> std::string { return (a.as_toml = text == "toml") ? "" : "toml"; });
  add_bytes(verb, a.bytes);
  add_format(verb, a.format);
}

void describe(VerbOptions verb, TopologyArguments& a) {
  constexpr int kMostVertices = 2 * 64;
  PredictOptions& o = a.asked.options;
  verb.name_option("--hw", "NAME|FILE", "System, or a GPU in a plain PCIe host", o.hardware);
  verb.number_option("--gpus", "GPUs of the job [all GPUs of --nodes nodes]", o.gpus);
  verb.number_option("--nodes", "Nodes of a collective [1, or as many as --gpus fills]", o.nodes);
  verb.option("--devices", "0,3", "These GPUs of every node",
              [&o](const std::string& text) { return set_devices(o.devices, text); });
  verb.name_option("--network", "NAME", "Network between nodes [the system's]", o.network);
  verb.words_option("--route", "A B...",
                    "The way between two vertices, such as gpu0 gpu5; with\nfurther pairs, what each gets at the same time",
                    a.route, 2, kMostVertices);
  verb.name_option("--collective", "NAME",
                   "all-reduce, reduce-scatter, all-gather, reduce,\nbroadcast or all-to-all: time and bandwidth by --bytes",
                   a.asked.collective);
  verb.name_option("--bytes", "SIZES", "Of a transfer along --route, such as \"1 MiB\", or of a\ncollective [1KiB..1GiB]",
                   a.bytes);
  verb.name_option("--nccl", "VERSION", "Release of NCCL [the stack's, else the GPU's first]", a.asked.nccl);
  verb.name_option("--launch", "NAME", "one-process, process-per-gpu or framework [not known]", a.asked.launch);
  verb.name_option("--stack", "NAME|FILE", "Framework and version, for its NCCL", o.stack);
  add_set(verb, o.set);
  add_calibration(verb, o.set);
  add_format(verb, a.format);
}

void describe(VerbOptions verb, DocsArguments& a) {
  verb.word("KIND", "man: the manual page; formats: keys of all files;\nbash, zsh: completion", a.kind);
}

}  // namespace tbdsim
