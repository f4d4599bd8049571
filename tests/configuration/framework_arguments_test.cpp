// Settings of training frameworks: 26 published configurations there and back, shell scripts, precedence, every message. Long
// because each rule has its own files.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "model/configuration/configure.hpp"
#include "model/configuration/framework_arguments/apply_layout_file.hpp"
#include "model/configuration/framework_arguments/shell_words.hpp"
#include "model/configuration/framework_arguments/write_arguments.hpp"
#include "model/input/csv_reader.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const std::string kRoot = TBDSIM_SOURCE_DIR, kData = kRoot + "/tests/data/frameworks/";

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

/// A file that is gone when the test is.
class Written {
 public:
  Written(const std::string& ending, const std::string& text)
      : path_((std::filesystem::temp_directory_path() / ("tbdsim-settings-" + std::to_string(getpid()) + ending)).string()) {
    std::ofstream(path_) << text;
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  ~Written() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string ending_of(SettingsForm form) {
  return form == SettingsForm::json ? ".json" : form == SettingsForm::toml ? ".toml" : ".txt";
}

PredictOptions job(const std::string& hardware, const std::string& model, const std::string& file) {
  PredictOptions o;
  o.hardware = hardware;
  o.model = model;
  o.layout_from = file;
  return o;
}

PredictOptions job(const std::string& file) { return job("dgx-h100", "llama-3-8b", file); }

Configuration configured(const PredictOptions& options) {
  // A session of its own: files of one name change between tests.
  const auto configuration = configure(*open_session({kRoot}), options);
  INFO((configuration ? std::string() : to_text(configuration.error())));
  REQUIRE(configuration);
  return *configuration;
}

std::string refused(const PredictOptions& options) {
  const auto configuration = configure(*open_session({kRoot}), options);
  REQUIRE_FALSE(configuration);
  return to_text(configuration.error());
}

std::map<std::string, std::string> values_of(const Configuration& configuration) {
  const auto list = layout_values(configuration);
  return {list.begin(), list.end()};
}

}  // namespace

TEST_CASE("every framework of the catalogue is read, and its settings agree with each other") {
  const auto frameworks = load_frameworks(kRoot);
  INFO((frameworks ? std::string() : to_text(frameworks.error())));
  REQUIRE(frameworks);
  CHECK(frameworks->size() == 4);
  for (const TrainingFramework& framework : *frameworks) {
    CAPTURE(framework.name);
    std::set<std::string> rows;
    for (const SettingRow& row : framework.rows) {
      CAPTURE(row.key);
      rows.insert(folded_key(row.key));
      // A setting is one thing: said by --model, without cost, or a row, which goes before the pattern of a list.
      for (const auto* list : {&framework.network, &framework.no_cost})
        for (const std::string& key : *list) CHECK(folded_key(key) != folded_key(row.key));
      // What is not modelled is told by its values or by those with which it does nothing.
      if (!row.unmodelled.empty()) CHECK((row.values.empty() || row.harmless.empty()));
    }
    for (const SettingRow& row : framework.rows) {
      CAPTURE(row.key);
      if (!row.when.first.empty()) CHECK(rows.count(folded_key(row.when.first)) == 1);
      if (!row.against.first.empty()) CHECK(rows.count(folded_key(row.against.first)) == 1);
      for (const auto& [key, value] : row.beside) CHECK(rows.count(folded_key(key)) == 1);
    }
  }
}

TEST_CASE("published configurations: what they say, what is not modelled, and the same job from the settings written again") {
  auto table = CsvTable::open(kData + "published.csv");
  REQUIRE(table);
  CHECK(table->rows() == 26);
  const auto column = [&](const char* name) { return *table->column(name); };
  std::set<std::string> frameworks;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const std::string& file = table->text(row, column("file"));
    CAPTURE(file);
    CHECK_FALSE(table->text(row, column("source")).empty());
    PredictOptions asked = job(table->text(row, column("hw")), table->text(row, column("model")), kData + file);
    if (const std::string& gpus = table->text(row, column("gpus")); !gpus.empty()) asked.gpus = std::stoi(gpus);
    // What changes the cost and is not modelled is named, all of it, and nothing else.
    const auto read = read_layout_file(kRoot, asked.layout_from);
    INFO((read ? std::string() : to_text(read.error())));
    REQUIRE(read);
    std::vector<std::string> named;
    for (const Error& error : read->unmodelled) {
      CHECK(error.where.line > 0);
      named.push_back(error.message.substr(0, error.message.find_first_of(" :")));
    }
    CHECK(named == words(table->text(row, column("unmodelled"))));
    for (const std::string& notice : read->notices) CHECK(notice.find("not known") == std::string::npos);
    asked.unmodelled = "allow";
    const Configuration first = configured(asked);
    auto values = values_of(first);
    for (const std::string& word : words(table->text(row, column("options")))) {
      CAPTURE(word);
      CHECK(values[word.substr(0, word.find('='))] == word.substr(word.find('=') + 1));
    }
    // There and back: nothing is lost.
    frameworks.insert(read->framework);
    const auto framework = load_framework(kRoot, read->framework);
    REQUIRE(framework);
    const FrameworkArguments written = framework_arguments(*framework, first);
    CHECK(written.lost == std::vector<std::string>{});
    CHECK(written.gpus == first.gpus);
    const Written again(ending_of(framework->form), written.text);
    PredictOptions second_asked = asked;
    second_asked.layout_from = again.path();
    second_asked.gpus = first.gpus;
    second_asked.unmodelled.clear();
    INFO(written.text);
    const Configuration second = configured(second_asked);
    CHECK(values_of(second) == values);
    CHECK(parallel_values(second.stack.parallel) == parallel_values(first.stack.parallel));
    CHECK(second.stack.id == first.stack.id);
    CHECK(framework_arguments(*framework, second).text == written.text);
  }
  CHECK(frameworks == std::set<std::string>{"deepspeed", "megatron", "nemo", "torchtitan"});
}

TEST_CASE("options of the user win over the file, and what they replace is told") {
  const Written file(".txt", "--tensor-model-parallel-size 4 --micro-batch-size 2 --global-batch-size 64 --bf16 --clip-grad 0\n");
  PredictOptions asked = job(file.path());
  asked.gpus = 16;
  asked.tensor_parallel = 2;
  asked.accumulate = 8;
  asked.set = {"stack.parallel.clips=true"};
  const Configuration c = configured(asked);
  CHECK(c.layout.tensor == 2);
  CHECK(c.batch == 2);
  CHECK(c.accumulate == 8);
  CHECK(c.samples_per_step() == 128);
  CHECK(c.stack.parallel.update.clips);
  const auto told = [&](const std::string& notice) { return std::count(c.notices.begin(), c.notices.end(), notice) == 1; };
  CHECK(c.layout_file == file.path());
  CHECK(c.layout_sha256.size() == 64);
  CHECK(told("--tensor-parallel 2 in place of 4 of " + file.path() + " (tensor-model-parallel-size)"));
  CHECK(told("--set stack.parallel.clips=true in place of stack.parallel.clips=false of " + file.path() + " (clip-grad)"));
  CHECK(told(file.path() + " holds settings of Megatron-LM: stack megatron-core-0.14"));
}

TEST_CASE("flags that change the cost and are not modelled are errors with their place, or notices when they are allowed") {
  const Written file(".txt",
                     "--tensor-model-parallel-size 2 --bf16\n--tp-comm-overlap --cp-comm-type a2a+p2p\n--moe-grouped-gem 3\n");
  PredictOptions asked = job(file.path());
  CHECK(refused(asked) ==
        file.path() + ":2:1: tp-comm-overlap: products that run beside the exchange of their own operands is not modelled\n" +
            file.path() +
            ":2:19: cp-comm-type a2a+p2p: this exchange of the context axis is not modelled (modelled: p2p, allgather, a2a)\n" +
            "--unmodelled allow predicts without what is not modelled\n");
  asked.unmodelled = "allow";
  const Configuration c = configured(asked);
  std::string notices;
  for (const std::string& notice : c.notices) notices += notice + '\n';
  CHECK(notices.find(file.path() + ":2: tp-comm-overlap: products") != std::string::npos);
  CHECK(notices.find(file.path() + ": not known, and without effect here: moe-grouped-gem (line 3)\n") != std::string::npos);
  asked.unmodelled = "maybe";
  CHECK(refused(asked).starts_with("--unmodelled maybe: expected refuse or allow\n"));
  asked.layout_from.clear();
  CHECK(refused(asked) == "--unmodelled maybe: is about settings of --layout-from; add one\n");
}

TEST_CASE("values that a setting does not take are refused with their place and what it takes") {
  const Written arguments(".txt", "--tensor-model-parallel-size $TP --recompute-granularity some\n--seq-length 8k\n");
  CHECK(
      refused(job(arguments.path())) ==
      arguments.path() +
          ":1:1: tensor-model-parallel-size: expected a whole number of at least 1, which the file does not set, got \"$TP\"\n" +
          arguments.path() + ":1:34: recompute-granularity: expected one of selective, full, got \"some\"\n" + arguments.path() +
          ":2:1: seq-length: expected a whole number of at least 1, got \"8k\"\n");
  const Written toml(".toml", "[parallelism]\ntensor_parallel_degree = 0\ndata_parallel_shard_degree = -2\n");
  CHECK(refused(job(toml.path())) ==
        toml.path() + ":2:26: parallelism.tensor_parallel_degree: expected a whole number of at least 1, got \"0\"\n" +
            toml.path() + ":3:30: parallelism.data_parallel_shard_degree: expected a whole number of at least -1, got \"-2\"\n");
  const Written json(".json", "{\n  \"zero_optimization\": {\"stage\": 4}\n}\n");
  CHECK(refused(job(json.path())) ==
        json.path() + ":2:25: zero_optimization.stage: expected a whole number from 0 to 3, got \"4\"\n");
  const Written broken(".json", "{\"train_batch_size\": ");
  CHECK(refused(job(broken.path())).starts_with(broken.path() + ":1:"));
  const Written other(".txt", "--no-such-flag 1 --nor-this 2\n");
  CHECK(refused(job(other.path())) ==
        other.path() +
            ": --layout-from: none of its 2 settings is known; expected those of DeepSpeed, Megatron-LM, NeMo, torchtitan\n");
  const Written empty(".txt", "nothing here\n");
  CHECK(refused(job(empty.path())) ==
        empty.path() + ": no settings found; expected --key value, key=value, .toml, .json or .yaml\n");
  CHECK(refused(job("/nowhere/args.txt")).find("/nowhere/args.txt: cannot open") == 0);
}

TEST_CASE("schedules of torchtitan: those that there are, those that are not modelled, and no others") {
  const auto schedule = [](const std::string& word) {
    return Written(".toml",
                   "[training]\nlocal_batch_size = 1\nglobal_batch_size = 64\n[parallelism]\npipeline_parallel_schedule = \"" +
                       word + "\"\npipeline_parallel_degree = 2\n");
  };
  for (const auto& [word, ours] :
       {std::pair{"1F1B", "1f1b"}, {"Interleaved1F1B", "interleaved"}, {"GPipe", "gpipe"}, {"ZBVZeroBubble", "zb-v"}}) {
    const Written file = schedule(word);
    auto values = values_of(configured(job(file.path())));
    INFO(word);
    CHECK(values["schedule"] == ours);
    CHECK(values["virtual-stages"] == (std::string(word) == "1F1B" || std::string(word) == "GPipe" ? "1" : "2"));
  }
  for (const char* word : {"InterleavedZeroBubble", "LoopedBFS"}) {
    const Written file = schedule(word);
    CHECK(refused(job(file.path())) == file.path() + ":5:30: parallelism.pipeline_parallel_schedule " + word +
                                           ": this order of a pipeline's passes is not modelled\n--unmodelled allow predicts "
                                           "without what is not modelled\n");
  }
  const Written other = schedule("Foo");
  CHECK(refused(job(other.path())) == other.path() +
                                          ":5:30: parallelism.pipeline_parallel_schedule: expected one of 1F1B, Interleaved1F1B, "
                                          "GPipe, ZBVZeroBubble, DualPipeV, flexible_interleaved_1f1b, got \"Foo\"\n");
}

TEST_CASE("settings that contradict each other are refused as their framework refuses them") {
  const Written batches(".json",
                        "{\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 2, \"gradient_accumulation_steps\": 5}");
  PredictOptions eight = job(batches.path());
  eight.gpus = 8;
  CHECK(refused(eight) == batches.path() +
                              ": train_batch_size 64 is not train_micro_batch_size_per_gpu 2 x gradient_accumulation_steps 5 x 8 "
                              "copies of the network, which are 80; change --gpus, or give --batch, --accumulate or "
                              "--global-batch\n");
  eight.accumulate = 4;
  CHECK(configured(eight).accumulate == 4);
  const Written agrees(".json",
                       "{\"train_batch_size\": 80, \"train_micro_batch_size_per_gpu\": 2, \"gradient_accumulation_steps\": 5}");
  PredictOptions right = job(agrees.path());
  right.gpus = 8;
  CHECK(configured(right).accumulate == 5);
  const Written both(".json", "{\"bf16\": {\"enabled\": true}, \"fp16\": {\"enabled\": true}}");
  CHECK(refused(job(both.path())).find("bf16.enabled: contradicts fp16.enabled at line 1; give one of them\n") !=
        std::string::npos);
  const Written flags(".txt", "--micro-batch-size 1 --bf16 --fp16\n");
  CHECK(refused(job(flags.path())) == flags.path() + ":1:22: bf16: contradicts fp16 at line 1; give one of them\n");
  const Written one(".json", "{\"bf16\": {\"enabled\": true}, \"fp16\": {\"enabled\": false}}");
  CHECK(configured(job(one.path())).precision == Precision::bf16);
}

TEST_CASE("values of another form than a setting has are refused: a number for a table, a word after a flag") {
  const Written number(".json", "{\"train_micro_batch_size_per_gpu\": 1, \"bf16\": 3}");
  CHECK(refused(job(number.path())).find("bf16: expected a table with enabled, got \"3\"\n") != std::string::npos);
  const Written word(".txt", "--micro-batch-size 1 --bf16 maybe\n");
  CHECK(refused(job(word.path())) == word.path() + ":1:22: bf16: expected no value, true or false, got \"maybe\"\n");
  // What follows a flag in a script may be another's.
  const Written script(".sh", "python pretrain.py --micro-batch-size 1 --bf16 $MORE --sequence-parallel ./data\n");
  CHECK(configured(job(script.path())).precision == Precision::bf16);
}

TEST_CASE("layers of the file are not compared with the network, and that is told") {
  const Written file(".txt", "--num-layers 3 --hidden-size 5 --num-attention-heads 7 --micro-batch-size 1 --bf16\n");
  const Configuration c = configured(job(file.path()));
  CHECK(std::count(c.notices.begin(), c.notices.end(),
                   file.path() + ": --model says what the network is; not compared with it: num-layers, hidden-size, "
                                 "num-attention-heads") == 1);
}

TEST_CASE("GPUs of the file: taken where none are asked for, and compared with the copies that it asks for") {
  const Written nodes(".txt",
                      "trainer.num_nodes=4 trainer.devices=8 trainer.precision=bf16 model.tensor_model_parallel_size=8\n");
  CHECK(configured(job(nodes.path())).gpus == 32);
  PredictOptions fewer = job(nodes.path());
  fewer.gpus = 16;
  const Configuration c = configured(fewer);
  CHECK(c.gpus == 16);
  CHECK(std::count(c.notices.begin(), c.notices.end(), "16 GPUs in place of 32 of " + nodes.path()) == 1);
  const Written copies(
      ".toml", "[parallelism]\ndata_parallel_shard_degree = 8\ndata_parallel_replicate_degree = 2\ntensor_parallel_degree = 4\n");
  const Configuration hsdp = configured(job(copies.path()));
  CHECK(hsdp.gpus == 64);
  CHECK(hsdp.zero == 3);
  CHECK(hsdp.stack.parallel.shards.ranks == 8);
  PredictOptions other = job(copies.path());
  other.gpus = 32;
  CHECK(refused(other) ==
        copies.path() + " asks for 16 copies of the network on 4 GPUs each: expected 64 GPUs, got 32; change --gpus\n");
}

TEST_CASE("weights that stay gathered from forward to backward are stage 2 in torchtitan's words") {
  const auto file = [](const char* word, int degree) {
    return fmt::format("[parallelism]\ndata_parallel_shard_degree = {}\nfsdp_reshard_after_forward = \"{}\"\n", degree, word);
  };
  const auto stage = [&](const char* word, int degree) {
    const Written written(".toml", file(word, degree));
    PredictOptions asked = job(written.path());
    asked.gpus = 8;
    return configured(asked).zero;
  };
  CHECK(stage("never", 8) == 2);
  CHECK(stage("never", -1) == 2);
  CHECK(stage("default", 8) == 3);
  CHECK(stage("always", 8) == 3);
  const Written rarely(".toml", file("rarely", 8));
  CHECK(refused(job(rarely.path())) ==
        rarely.path() +
            ":3:30: parallelism.fsdp_reshard_after_forward: expected one of never, default, always, got \"rarely\"\n");
  PredictOptions asked = job("");
  asked.gpus = 8;
  asked.stack = "fsdp2-2.6";
  asked.precision = "bf16";
  asked.zero = 2;
  const FrameworkArguments said = framework_arguments(*load_framework(kRoot, "torchtitan"), configured(asked));
  CHECK(said.lost.empty());
  CHECK(said.text.find("fsdp_reshard_after_forward = \"never\"\n") != std::string::npos);
}

TEST_CASE("of three batches two make the third") {
  const Written file(".json", "{\"train_batch_size\": 96, \"gradient_accumulation_steps\": 3, \"bf16\": {\"enabled\": true}}\n");
  PredictOptions asked = job(file.path());
  asked.gpus = 16;
  CHECK(configured(asked).batch == 2);
  asked.gpus = 64;
  CHECK(refused(asked) == file.path() +
                              ": 96 samples an update are no whole number of 3 micro-batches on 64 copies of the network; change "
                              "--gpus, or add --batch\n");
}

TEST_CASE("parts of a pipeline's stages follow from the layers that the file states") {
  const std::string common =
      "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 4 --global-batch-size 64 --bf16";
  const Written whole(".txt", common + " --num-layers 32\n");
  PredictOptions asked = job(whole.path());
  CHECK(configured(asked).layout.virtual_stages == 2);
  const Written unknown(".txt", common + "\n");
  CHECK(refused(job(unknown.path())) ==
        unknown.path() +
            " states the layers of a part of a pipeline's stage (4), not those of the network: add --virtual-stages\n");
  const Written uneven(".txt", common + " --num-layers 30\n");
  CHECK(refused(job(uneven.path())) == uneven.path() + ": 30 layers are no whole number of 4 stages with parts of 4\n");
}

// Source: Megatron-LM, megatron/training/arguments.py: --fp8-param-gather is refused without --fp8-format.
TEST_CASE("gathers in 8 bits are written where products are in 8 bits") {
  const Written file(".toml", "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[parallelism]\ntensor_parallel_degree = 2\n");
  const auto written = [&](const char* precision) {
    PredictOptions asked = job(file.path());
    asked.gpus = 16;
    asked.precision = precision;
    const Configuration read = configured(asked);
    REQUIRE(read.stack.parallel.weights.gathers_8_bit);
    return framework_arguments(*load_framework(kRoot, "megatron"), read).text;
  };
  CHECK(written("bf16").find("--fp8-param-gather") == std::string::npos);
  CHECK(written("fp8").find("--fp8-param-gather") != std::string::npos);
}

// Source: Megatron-LM, transformer_block.py, get_num_layers_to_build.
TEST_CASE("stages of unlike numbers of layers come from Megatron's settings and go back to them") {
  // llama-3-8b has 32 layers.
  const std::string common =
      "--pipeline-model-parallel-size 4 --micro-batch-size 1 --global-batch-size 64 --bf16 --num-layers 32 ";
  const auto layers = [&](const std::string& more, const PredictOptions& own = {}) {
    const Written file(".txt", common + more + "\n");
    PredictOptions asked = job(file.path());
    asked.gpus = 16;
    asked.stage_layers = own.stage_layers;
    asked.first_stage_layers = own.first_stage_layers;
    const Configuration first = configured(asked);
    const FrameworkArguments written = framework_arguments(*load_framework(kRoot, "megatron"), first);
    if (own.stage_layers.empty()) {
      INFO(written.text);
      CHECK(written.lost.empty());
      const Written again(".txt", written.text);
      PredictOptions second = job(again.path());
      second.gpus = 16;
      CHECK(configured(second).layout.stage_layers == first.layout.stage_layers);
    }
    return first.layout.stage_layers;
  };
  using Layers = std::vector<int>;
  CHECK(layers("").empty());
  CHECK(layers("--decoder-first-pipeline-num-layers 7 --decoder-last-pipeline-num-layers 5") == Layers{7, 10, 10, 5});
  CHECK(layers("--decoder-last-pipeline-num-layers 5") == Layers{9, 9, 9, 5});
  CHECK(layers("--decoder-first-pipeline-num-layers 8 --num-virtual-stages-per-pipeline-rank 2") == Layers(8, 4));
  PredictOptions own;
  own.stage_layers = "7,9,9,7";
  CHECK(layers("--decoder-first-pipeline-num-layers 5", own) == Layers{7, 9, 9, 7});
  // 34 with the table of words and the head: 2 for each of 17 stages.
  const std::string seventeen = "--pipeline-model-parallel-size 17 --micro-batch-size 1 --global-batch-size 64 --bf16 ",
                    both = "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split";
  const auto of_seventeen = [&](const std::string& more) {
    const Written file(".txt", seventeen + more + "\n");
    PredictOptions asked = job(file.path());
    asked.gpus = asked.nodes.emplace(17);
    return configured(asked).layout.stage_layers;
  };
  Layers ends(17, 2);
  ends.front() = ends.back() = 1;
  CHECK(of_seventeen("--num-layers 32 " + both) == ends);
  const Written unknown(".txt", seventeen + both + "\n");
  PredictOptions asked = job(unknown.path());
  asked.gpus = asked.nodes.emplace(17);
  CHECK(refused(asked) == unknown.path() +
                              " counts the ends of the network as layers, and does not state how many it has: add "
                              "--first-stage-layers or --last-stage-layers\n");
  const Written odd(".txt", seventeen + both + " --num-layers 31\n");
  asked.layout_from = odd.path();
  CHECK(refused(asked) == odd.path() +
                              ": 33 layers, with the ends of the network that count as layers, are no whole number for each of "
                              "17 stages\n");
}

TEST_CASE("settings of experts and of the context axis come from Megatron's arguments and go back to them") {
  const Written file(
      ".txt",
      "--expert-model-parallel-size 8 --context-parallel-size 2 --bf16 --micro-batch-size 1 --global-batch-size 64\n"
      "--moe-token-dispatcher-type flex --moe-enable-deepep --moe-expert-capacity-factor 1.25 --cp-comm-type a2a\n");
  PredictOptions asked = job("dgx-h100", "mixtral-8x7b", file.path());
  asked.gpus = 16;
  const Configuration c = configured(asked);
  CHECK(c.stack.parallel.experts.dispatch == ExpertDispatch::once_per_node);
  CHECK(c.stack.parallel.experts.capacity == 1.25);
  CHECK(c.stack.parallel.context == ContextExchange::all_to_all);
  const FrameworkArguments written = framework_arguments(*load_framework(kRoot, "megatron"), c);
  CHECK(written.lost.empty());
  for (const char* const line : {"--moe-enable-deepep\n", "--moe-token-dispatcher-type flex\n",
                                 "--moe-expert-capacity-factor 1.25\n", "--cp-comm-type a2a\n"})
    CHECK(written.text.find(line) != std::string::npos);
  // Nothing of it where neither experts nor positions are divided.
  const Written plain(".txt", "--bf16 --micro-batch-size 1 --global-batch-size 64\n");
  asked.layout_from = plain.path();
  const std::string text = framework_arguments(*load_framework(kRoot, "megatron"), configured(asked)).text;
  CHECK(text.find("moe") == std::string::npos);
  CHECK(text.find("cp-comm") == std::string::npos);
}

TEST_CASE("what a framework has no setting for is named as it is written") {
  PredictOptions asked;
  asked.hardware = "dgx-h100";
  asked.model = "llama-3-8b";
  asked.gpus = 16;
  asked.tensor_parallel = 2;
  asked.pipeline_parallel = 4;
  asked.accumulate = 8;
  asked.stack = "megatron-core-0.8";
  asked.precision = "bf16";
  asked.schedule = "zb-h1";
  const Configuration c = configured(asked);
  const auto lost = [&](const char* name) { return framework_arguments(*load_framework(kRoot, name), c).lost; };
  CHECK(lost("megatron") == std::vector<std::string>{"--schedule zb-h1"});
  CHECK(lost("deepspeed") == std::vector<std::string>{"--sequence-parallel on", "--pipeline-parallel 4", "--schedule zb-h1"});
  CHECK(to_text(load_framework(kRoot, "megatrom").error()) == "unknown framework \"megatrom\", did you mean \"megatron\"?\n");
}

TEST_CASE("layers that do not divide over the parts of an interleaved pipeline are named where the framework refuses them") {
  PredictOptions asked;
  asked.hardware = "dgx-h100";
  asked.model = "llama-3-8b";
  asked.gpus = 16;
  asked.pipeline_parallel = 4;
  asked.accumulate = 8;
  asked.stack = "megatron-core-0.8";
  asked.precision = "bf16";
  const auto named = [&](const char* name, int parts) {
    asked.virtual_stages = parts;
    const std::vector<std::string> lost = framework_arguments(*load_framework(kRoot, name), configured(asked)).lost;
    return std::count(lost.begin(), lost.end(), "32 layers in 12 parts of a pipeline");
  };
  for (const char* const name : {"megatron", "nemo"}) {
    INFO(name);
    CHECK(named(name, 3) == 1);
    CHECK(named(name, 4) == 0);
  }
  CHECK(named("torchtitan", 3) == 0);
}

TEST_CASE("a kernel of attention that no setting says and parts of a sequence that stay whole are named as lost") {
  PredictOptions asked;
  asked.hardware = "dgx-h100";
  asked.model = "llama-3-8b";
  asked.stack = "fsdp2-2.6";
  asked.precision = "bf16";
  asked.tensor_parallel = 2;
  const auto lost = [&](const char* name) { return framework_arguments(*load_framework(kRoot, name), configured(asked)).lost; };
  using Lost = std::vector<std::string>;
  CHECK(lost("torchtitan").empty());
  // The stack's own.
  asked.attention = "flash-2";
  CHECK(lost("torchtitan").empty());
  asked.attention = "flash-1";
  for (const char* const name : {"megatron", "nemo", "torchtitan"}) {
    const Lost all = lost(name);
    INFO(name);
    CHECK(std::count(all.begin(), all.end(), "--attention flash-1") == 1);
  }
  asked.attention.clear();
  asked.sequence_parallel = "off";
  CHECK(lost("torchtitan") == Lost{"--sequence-parallel off"});
  for (const char* const name : {"megatron", "nemo"}) {
    const Lost all = lost(name);
    INFO(name);
    CHECK(std::count(all.begin(), all.end(), "--sequence-parallel off") == 0);
  }
}

TEST_CASE("activations on the host come from the settings of Megatron-LM and NeMo and go back to them") {
  const std::string common = "--tensor-model-parallel-size 8 --micro-batch-size 1 --global-batch-size 1 --bf16 ";
  const Written three(".sh", common + "--cpu-offloading-num-layers 3\n");
  PredictOptions asked = job(three.path());
  const Configuration first = configured(asked);
  CHECK(first.offload.layers == 3);
  CHECK(first.offload.states == 0.0);
  for (const char* const name : {"megatron", "nemo"}) {
    const auto framework = load_framework(kRoot, name);
    const FrameworkArguments written = framework_arguments(*framework, first);
    INFO(written.text);
    CHECK(written.lost.empty());
    const Written again(ending_of(framework->form), written.text);
    const Configuration second = configured(job(again.path()));
    CHECK(second.offload.layers == 3);
    CHECK(second.offload.states == 0.0);
  }
  // What the user says lies there holds.
  asked.offload_layers = 5;
  CHECK(configured(asked).offload.layers == 5);
  asked.offload_layers.reset();
  asked.offload = "none";
  CHECK_FALSE(configured(asked).offload.any());
  asked.offload = "states";
  CHECK(configured(asked).offload.layers == 0);
  for (const char* const none : {"", "--cpu-offloading-num-layers 0", "--optimizer-cpu-offload false"}) {
    const Written file(".sh", common + none + '\n');
    PredictOptions own = job(file.path());
    INFO(none);
    CHECK_FALSE(configured(own).offload.any());
    own.offload = "activations";
    CHECK(configured(own).offload.layers == 31);  // of 32 all but the last
    own.offload.clear();
    own.offload_layers = 2;
    CHECK(configured(own).offload.layers == 2);
  }
  const Written both(".sh", common + "--optimizer-cpu-offload --cpu-offloading-num-layers 3\n");
  const Configuration all = configured(job(both.path()));
  CHECK(all.offload.layers == 3);
  CHECK(all.offload.states == 1.0);
  const Written word(".sh", common + "--cpu-offloading-num-layers three\n");
  CHECK(refused(job(word.path())).ends_with("cpu-offloading-num-layers: expected a whole number of at least 0, got \"three\"\n"));
}

TEST_CASE("a kernel of attention that a file names and the GPU lacks is the stack's to choose, and that is told") {
  const Written file(".sh", "--micro-batch-size 1 --global-batch-size 8 --fp16 --attention-backend fused\n");
  const Configuration c = configured(job("dgx1", "llama-3-8b", file.path()));
  CHECK(std::count(c.notices.begin(), c.notices.end(),
                   file.path() + ": v100-sxm2-16gb lacks its kernel of attention, cudnn; the stack's own holds") == 1);
  CHECK(values_of(configured(job(file.path())))["attention"] == "cudnn");
  CHECK(values_of(configured(job("dgx-a100-80gb", "llama-3-8b", file.path())))["attention"] == "cudnn");
}

TEST_CASE("one part a GPU in place of a file's interleaved ones is not interleaved") {
  const Written file(".toml",
                     "[training]\nlocal_batch_size = 1\nglobal_batch_size = 64\n[parallelism]\npipeline_parallel_schedule = "
                     "\"Interleaved1F1B\"\npipeline_parallel_degree = 2\n");
  PredictOptions asked = job(file.path());
  asked.virtual_stages = 1;
  CHECK(values_of(configured(asked))["schedule"] == "1f1b");
}

TEST_CASE("words of a script: variables, defaults, arrays, quotes round options, comments, here-documents") {
  const auto texts = [](std::string_view script) {
    std::vector<std::string> all;
    for (const ShellWord& word : shell_words(script))
      if (!word.ends) all.push_back(word.text);
    return all;
  };
  CHECK(texts("TP=8\nrun --tp $TP --pp ${PP:-4} --x ${Y} # --no 1\n") ==
        std::vector<std::string>{"run", "--tp", "8", "--pp", "4", "--x", "${Y}"});
  CHECK(texts("A=(\n  --a 1\n  --b \"two words\"\n)\nB=\" --c 3 \\\n --d 'x|y' \"\n") ==
        std::vector<std::string>{"--a", "1", "--b", "two words", "--c", "3", "--d", "x|y"});
  CHECK(texts("cat <<EOT > file\n--not this\nEOT\n--this 1\n") == std::vector<std::string>{"cat", "--this", "1"});
  CHECK(texts("N=$((64/2))\n--n $N") == std::vector<std::string>{"--n", "$((64/2))"});
  std::string doubling = "A=xxxxxxxx\n";
  for (int i = 0; i < 64; ++i) doubling += "A=$A$A\n";
  CHECK(texts(doubling + "--a $A\n").back().size() <= 4100);
  for (const char* cut : {"$", "${", "${A", "$(", "$((", "A=\"", "A='--b", "<<", "<<E", "\\", "--a \"$", "${A:-", "<<'"})
    CHECK(texts(cut).size() <= 2);
  CHECK(texts("--a=1 key=2") == std::vector<std::string>{"--a=1", "key=2"});
  const auto places = shell_words("--a 1\n  --b 2\n");
  REQUIRE(places.size() == 6);
  CHECK(places[3].line == 2);
  CHECK(places[3].column == 3);
}

TEST_CASE("files with one word a line, as programs read arguments from, are read as lines with several") {
  const auto split = read_settings("--seq-length\n4096\n--bf16\n--micro-batch-size\n2\n", "args.txt");
  REQUIRE(split);
  REQUIRE(split->size() == 3);
  CHECK(split->at(0).value == "4096");
  CHECK(split->at(1).value == "true");
  CHECK(split->at(2).value == "2");
}
