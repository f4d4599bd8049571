// Measured-run tables: what a row becomes, and the exact text of everything that can be wrong with it.
#include <filesystem>
#include <fstream>
#include <string>

#include "model/stack/stack.hpp"
#include "model/validation/measured_table.hpp"
#include "model/validation/metric.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const std::string kRequired = "id,hw,model,metric,unit,measured";

std::string messages(const std::string& text) {
  const auto runs = parse_measured_table(text, "t.csv");
  return runs ? "" : to_text(runs.error());
}

/// Messages of one good row but for `options`, less the file's line and caret.
std::string option_messages(const std::string& options) {
  const auto runs = parse_measured_table(
      "id,hw,model,gpus,options,metric,unit,measured\na,k80,resnet50,2,\"" + options + "\",throughput,samples/s,10\n", "t.csv");
  std::string text;
  if (!runs) {
    for (const Error& error : runs.error()) text += error.message + "\n";
  }
  return text;
}

MeasuredRun row_with_options(const std::string& options) {
  const auto runs = parse_measured_table(
      "id,hw,model,options,metric,unit,measured\na,k80,resnet50,\"" + options + "\",throughput,samples/s,10\n", "t.csv");
  REQUIRE(runs);
  return runs->front();
}

}  // namespace

TEST_CASE("a full row fills every option and field") {
  const auto good = parse_measured_table(
      "id,hw,model,stack,precision,gpus,nodes,network,batch_per_gpu,seq_len,exchange,optimizer,input,options,metric,unit,"
      "measured,spread,use,group,source\n"
      "a,dgx1,bert-base,pytorch-1.12,amp,8,2,ib-edr,16,128,allreduce,adam,recordio,\"--devices 0,3\",step_time_s,s,0.25,0.01,fit,"
      "g/v100,\"page, table 2\"\n",
      "t.csv");
  REQUIRE(good);
  REQUIRE(good->size() == 1);
  const MeasuredRun& run = good->front();
  CHECK(run.id == "a");
  CHECK(run.options.hardware == "dgx1");
  CHECK(run.options.model == "bert-base");
  CHECK(run.options.stack == "pytorch-1.12");
  CHECK(run.options.precision == "amp");
  CHECK(run.options.gpus == 8);
  CHECK(run.options.nodes == 2);
  CHECK(run.options.network == "ib-edr");
  CHECK(run.options.batch == 16);
  CHECK(run.options.seq_len == 128);
  CHECK(run.options.exchange == "allreduce");
  CHECK(run.options.optimizer == "adam");
  CHECK(run.options.input == "recordio");
  CHECK(run.options.devices == std::vector<int>{0, 3});
  CHECK(run.metric == "step_time_s");
  CHECK(run.unit == "s");
  CHECK(run.measured == 0.25);
  CHECK(run.spread == 0.01);
  CHECK(run.fit);
  CHECK(run.group == "g/v100");
  CHECK(run.source == "page, table 2");
  CHECK(run.where.line == 2);
}

TEST_CASE("absent columns and empty fields leave the defaults") {
  const auto runs = parse_measured_table(kRequired + ",gpus,spread,use,group\na,k80,resnet50,throughput,samples/s,51.9,,,,\n",
                                         "tables/mine.csv");
  REQUIRE(runs);
  const MeasuredRun& run = runs->front();
  CHECK_FALSE(run.options.gpus);
  CHECK_FALSE(run.options.batch);
  CHECK(run.options.stack.empty());
  CHECK_FALSE(run.spread);
  CHECK_FALSE(run.fit);
  CHECK(run.group == "mine/k80");
}

TEST_CASE("options are read as on the command line") {
  CHECK(row_with_options("--image 299").options.image == 299);
  CHECK(row_with_options("--image=299 --seq-len=64").options.seq_len == 64);
  CHECK(row_with_options("--gpus 4 --nodes 2 --batch 8").options.batch == 8);
  CHECK(row_with_options("--mock-loader").options.mock_loader);
  CHECK(row_with_options("--input lmdb --mock-loader").options.input == "lmdb");
  CHECK(row_with_options("--set hw.link.nvlink.bandwidth=2x --set stack.host.dispatch='1 us'").options.set ==
        std::vector<std::string>{"hw.link.nvlink.bandwidth=2x", "stack.host.dispatch=1 us"});
  const MeasuredRun collective = row_with_options("--collective all-reduce --bytes 1KiB");
  CHECK(collective.collective == "all-reduce");
  CHECK(collective.message == Bytes(1024.0));
  CHECK(row_with_options("--bytes 4096").message == Bytes(4096.0));
}

TEST_CASE("every malformed option is named") {
  CHECK(option_messages("--imege 299") == "options: unknown option \"--imege\", did you mean \"--image\"?\n");
  CHECK(option_messages("--frobnicate --image 0") ==
        "options: unknown option \"--frobnicate\"\n"
        "options: --image: expected a whole number of at least 1, got \"0\"\n");
  CHECK(option_messages("--image 1") == "");
  CHECK(option_messages("--image") == "options: --image: expected a whole number of at least 1, got nothing\n");
  CHECK(option_messages("--image --seq-len 4") == "options: --image: expected a whole number of at least 1, got nothing\n");
  CHECK(option_messages("299") == "options: expected an option such as --image 299, got \"299\"\n");
  CHECK(option_messages("--gpus 4") == "options: --gpus is given twice\n");  // the column says 2
  CHECK(option_messages("--mock-loader --mock-loader") == "options: --mock-loader is given twice\n");
  CHECK(option_messages("--set a=1 --set a=2") == "options: --set: a=2 contradicts a=1; give one of them\n");
  CHECK(option_messages("--mock-loader=yes") == "options: --mock-loader takes no value, got \"yes\"\n");
  CHECK(option_messages("--devices 0,0") == "options: --devices: expected different GPU numbers such as 0,3, got \"0,0\"\n");
  CHECK(option_messages("--devices 0,") == "options: --devices: expected different GPU numbers such as 0,3, got \"0,\"\n");
  CHECK(option_messages("--devices 0") == "");
  CHECK(option_messages("--set a") == "options: --set: expected KEY=VALUE, got \"a\"\n");
  CHECK(option_messages("--set a=") == "options: --set: expected KEY=VALUE, got \"a=\"\n");
  CHECK(option_messages("--set =1") == "options: --set: expected KEY=VALUE, got \"=1\"\n");
  CHECK(option_messages("--bytes fast") == "options: --bytes: expected a size such as \"1 MiB\", got \"fast\"\n");
  CHECK(option_messages("--bytes 0") == "options: --bytes: expected a size such as \"1 MiB\", got \"0\"\n");
}

TEST_CASE("every problem of a table is reported at once, with its place") {
  CHECK(messages("id,hw,model,gpus,metric,unit,measured,spread,use\n"
                 "a,k80,resnet50,1,throughputs,samples/s,10,,validation\n"
                 "a,k80,resnet50,0,throughput,s,-3,-1,testing\n"
                 "b,,resnet50,1,throughput,samples/s,fast,,fit\n") ==
        R"(t.csv:2:18: metric: unknown metric "throughputs", did you mean "throughput"?
   2 | a,k80,resnet50,1,throughputs,samples/s,10,,validation
     |                  ^~~~~~~~~~~
t.csv:3:1: id: repeated id "a", it is also in line 2
   3 | a,k80,resnet50,0,throughput,s,-3,-1,testing
     | ^
t.csv:3:16: gpus: expected a whole number of at least 1, got "0"
   3 | a,k80,resnet50,0,throughput,s,-3,-1,testing
     |                ^
t.csv:3:29: unit: expected "samples/s", the unit of throughput, got "s"
   3 | a,k80,resnet50,0,throughput,s,-3,-1,testing
     |                             ^
t.csv:3:31: measured: expected a number above 0, got "-3"
   3 | a,k80,resnet50,0,throughput,s,-3,-1,testing
     |                               ^~
t.csv:3:34: spread: expected 0 or more, got "-1"
   3 | a,k80,resnet50,0,throughput,s,-3,-1,testing
     |                                  ^~
t.csv:3:37: use: expected fit or validation, got "testing"
   3 | a,k80,resnet50,0,throughput,s,-3,-1,testing
     |                                     ^~~~~~~
t.csv:4:3: hw: expected a name, got an empty field
   4 | b,,resnet50,1,throughput,samples/s,fast,,fit
     |   ^
t.csv:4:36: measured: expected a number, got "fast"
   4 | b,,resnet50,1,throughput,samples/s,fast,,fit
     |                                    ^~~~
)");
}

TEST_CASE("zero is refused as a measurement and anything above it accepted") {
  const std::string row = "a,k80,resnet50,step_time_s,s,";
  CHECK(messages(kRequired + "\n" + row + "0\n") ==
        "t.csv:2:30: measured: expected a number above 0, got \"0\"\n"
        "   2 | a,k80,resnet50,step_time_s,s,0\n"
        "     |                              ^\n");
  CHECK(messages(kRequired + "\n" + row + "1e-12\n").empty());
}

TEST_CASE("a measurement of which no error can be told is refused") {
  const std::string row = "a,k80,resnet50,step_time_s,s,";
  for (const char* most : {"1e-15", "1e18"}) CHECK(messages(kRequired + "\n" + row + most + "\n").empty());
  for (const std::string beyond : {"1e-320", "0.9e-15", "1.1e18", "1e308"})
    CHECK(messages(kRequired + "\n" + row + beyond + "\n")
              .starts_with("t.csv:2:30: measured: expected a number of 1e-15 to 1e+18, got \"" + beyond + "\"\n"));
}

TEST_CASE("columns: unknown, missing, and a table without rows") {
  const auto unknown = parse_measured_table("id,hw,model,metrik,unit,measured\na,k80,resnet50,throughput,samples/s,1\n", "t.csv");
  REQUIRE_FALSE(unknown);
  REQUIRE(unknown.error().size() == 1);
  CHECK(unknown.error()[0].message == "metrik: unknown column, did you mean \"metric\"?");
  CHECK(messages(kRequired + "\n") == "t.csv: no rows below the header\n");
  const auto missing = parse_measured_table("id,hw,model,unit,measured\na,k80,resnet50,s,1\n", "t.csv");
  REQUIRE_FALSE(missing);
  CHECK(missing.error()[0].message == "metric: missing column");
}

TEST_CASE("bus bandwidth needs its collective and its size") {
  const std::string header = "id,hw,model,options,metric,unit,measured\n";
  const auto bare = parse_measured_table(header + "a,dgx1,resnet50,--bytes 1MiB,bus_bandwidth,bytes/s,1e11\n", "t.csv");
  REQUIRE_FALSE(bare);
  CHECK(bare.error()[0].message == "metric: bus_bandwidth needs the options --collective NAME --bytes N");
  CHECK(parse_measured_table(header + "a,dgx1,resnet50,--bytes 1MiB --collective all-reduce,bus_bandwidth,bytes/s,1e11\n",
                             "t.csv"));
}

TEST_CASE("every metric has one of the documented units, and only its own is accepted") {
  for (const Metric& metric : metrics()) {
    INFO(metric.name);
    const std::string row = "a,k80,resnet50," + std::string(metric.name) + ",";
    const std::string options = metric.name == "bus_bandwidth" ? ",--collective all-reduce --bytes 1MiB\n" : ",\n";
    CHECK(messages(kRequired + ",options\n" + row + std::string(metric.unit) + ",1" + options).empty());
    CHECK_FALSE(messages(kRequired + ",options\n" + row + "furlongs,1" + options).empty());
    CHECK(metric.flop_share >= 0.0);
    CHECK(metric.flop_share <= 1.0);
    CHECK((metric.unit == "s") == (metric.kind == MetricKind::time));
  }
}

TEST_CASE("every published table reads") {
  int tables = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TBDSIM_SOURCE_DIR) + "/scenarios/published")) {
    if (entry.path().extension() != ".csv") continue;
    const auto runs = read_measured_table(entry.path().string());
    INFO(entry.path().string() << "\n" << (runs ? "" : to_text(runs.error())));
    REQUIRE(runs);
    for (const MeasuredRun& run : *runs) CHECK_FALSE(run.source.empty());
    ++tables;
  }
  CHECK(tables >= 12);
}

// NVIDIA/DeepLearningExamples, PyTorch/LanguageModeling/BERT: apex O2 until 2021; run_pretraining.py of 2022 calls model.half()
// with --allreduce_post_accumulation_fp16, which scripts/run_pretraining.sh sets.
TEST_CASE("pre-training of BERT in mixed precision holds 16-bit weights in every version") {
  const std::string root(TBDSIM_SOURCE_DIR);
  const auto runs = read_measured_table(root + "/scenarios/published/nvidia_sequences.csv");
  REQUIRE(runs);
  int found = 0;
  for (const MeasuredRun& run : *runs) {
    if (!run.options.model.starts_with("bert-large") || run.options.precision != "amp") continue;
    const auto stack = load_stack(root, run.options.stack);
    INFO(run.id << ": " << run.options.stack);
    REQUIRE(stack);
    CHECK(stack->operators.amp.all_16_bit);
    ++found;
  }
  CHECK(found >= 10);
}

TEST_CASE("options that say nothing about a row's metric make it one that is refused") {
  CHECK(row_with_options("--collective all-reduce --bytes 1KiB").refused ==
        "--collective, --bytes: is about a collective; its metric is bus_bandwidth");
  CHECK(row_with_options("--image 299").refused.empty());
  const auto runs = parse_measured_table(
      "id,hw,batch_per_gpu,precision,options,metric,unit,measured\n"
      "a,dgx1,32,fp32,--collective all-reduce --bytes 1KiB,bus_bandwidth,bytes/s,10\n"
      "b,dgx1,,fp32,--collective all-reduce --bytes 1KiB --nccl 2.4,bus_bandwidth,bytes/s,10\n",
      "t.csv");
  REQUIRE(runs);
  CHECK(runs->front().refused == "--batch: says nothing about a collective, which trains nothing");
  CHECK(runs->back().refused.empty());
}

TEST_CASE("files that a table names lie beside it") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "tbdsim_measured_table_test";
  fs::create_directories(folder / "boxes");
  std::ofstream(folder / "mine.toml") << "schema = 1\n";
  const std::string table = (folder / "t.csv").string();
  const auto named = [&](const std::string& hw, const std::string& model) {
    const auto runs = parse_measured_table(kRequired + "\na," + hw + "," + model + ",throughput,samples/s,10\n", table);
    REQUIRE(runs);
    return runs->front().options;
  };
  CHECK(named("mine.toml", "resnet50").hardware == (folder / "mine.toml").string());
  CHECK(named("boxes/one.toml", "resnet50").hardware == (folder / "boxes/one.toml").string());
  CHECK(named("dgx1.toml", "resnet50").hardware == "dgx1");  // none beside: the catalogue's
  CHECK(named("/boxes/one.toml", "resnet50").hardware == "/boxes/one.toml");
  CHECK(named("dgx1", "mine.onnx").model == (folder / "mine.onnx").string());
  CHECK(named("dgx1", "resnet50@tf").model == "resnet50@tf");
  const auto runs = parse_measured_table(kRequired + "\na,mine.toml,resnet50,throughput,samples/s,10\n", table);
  CHECK(runs->front().group == "t/mine.toml");
  fs::remove_all(folder);
}
