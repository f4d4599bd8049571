// The search against all layouts tried one by one, and what it refuses.
#include "model/plan/plan.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "model/configuration/read_option.hpp"
#include "model/plan/search.hpp"
#include "model/report/plan_report.hpp"
#include "model/study/ownership.hpp"
#include "model/units/format.hpp"
#include "tests/plan/random_layouts.hpp"

using namespace tbdsim;

namespace {

plan::PlanOptions small_job() {
  plan::PlanOptions options;
  options.job = job("gpt3-1.3b", "dgx-a100-80gb", "megatron-core-0.8", 16);
  options.job.global_batch = 64;
  return options;
}

std::string refusal(const plan::PlanOptions& options) {
  const auto made = plan::make_plan(session(), options);
  return made ? "" : to_text(made.error());
}

/// The fastest of all layouts that the search may try, by `predict`.
Seconds fastest_by_hand(const PredictOptions& job) {
  Seconds best(HUGE_VAL);
  for (const int tensor : {1, 2, 4, 8, 16})
    for (const int pipeline : {1, 2, 4, 8, 16})
      for (const int batch : {1, 2, 4, 8, 16, 32, 64})
        for (const char* const recompute : {"", "selective", "layer"})
          for (const int zero : {0, 1})
            for (const int parts : {1, 2, 3, 4, 6, 12}) {
              PredictOptions one = job;
              one.tensor_parallel = tensor;
              one.pipeline_parallel = pipeline;
              one.batch = batch;
              one.recompute = recompute;
              one.zero = zero;
              if (parts > 1) one.virtual_stages = parts;
              const auto prediction = predict(session(), one);
              if (prediction && prediction->memory.fits) best = std::min(best, prediction->step_time.value);
            }
  return best;
}

}  // namespace

TEST_CASE("the search finds what trying all layouts finds", "[plan]") {
  plan::PlanOptions options = small_job();
  options.keep = {"context-parallel=1"};
  options.top = 3;
  const auto found = plan::make_plan(session(), options);
  REQUIRE(found);
  REQUIRE(found->rows.size() == 3);
  CHECK(found->rows.front().prediction.step_time.value <= fastest_by_hand(options.job));
  CHECK(found->counts.tried > 1000);
  CHECK(found->counts.out_of_memory + found->counts.dominated < found->counts.tried);
  for (const plan::PlanRow& row : found->rows) {
    CHECK(row.prediction.memory.fits);
    CHECK(row.behind >= 0.0);
    CHECK(row.prediction.division.layout.context == 1);
  }
}

TEST_CASE("what is left out by its bound is not among the fastest", "[plan]") {
  PredictOptions options = job("mixtral-8x7b", "dgx-h100", "megatron-core-0.14", 64, 4096);
  const auto base = configure(session(), options);
  REQUIRE(base);
  const auto kernels = plan::DrawnKernels::make(*base);
  REQUIRE(kernels);
  options.global_batch = 256;
  const plan::Search search(*base, options, *kernels, false);
  const std::size_t few = 40;
  const plan::Found all = search.run(0, 1, 1'000'000, nullptr, nullptr), some = search.run(0, 1, few, nullptr, nullptr);
  REQUIRE(some.nearest.size() >= few);
  REQUIRE(all.nearest.size() > 10 * few);
  CHECK(some.counts.tried == all.counts.tried);
  CHECK(some.counts.timed < all.counts.timed / 2);
  for (std::size_t i = 0; i < few; ++i) {
    CHECK(some.nearest[i].time == all.nearest[i].time);
    CHECK(some.nearest[i].memory == all.nearest[i].memory);
    CHECK(to_text(some.nearest[i].layout) == to_text(all.nearest[i].layout));
  }
}

TEST_CASE("a plan does not depend on the number of threads", "[plan]") {
  const plan::PlanOptions options = small_job();
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto one = plan::make_plan(session(), options);
  omp_set_num_threads(4);
  const auto several = plan::make_plan(session(), options);
  omp_set_num_threads(threads);
  REQUIRE(one);
  REQUIRE(several);
  CHECK(plan_json(*one, Objective::time) == plan_json(*several, Objective::time));
}

TEST_CASE("shards of a plan try every layout once", "[plan]") {
  plan::PlanOptions options = small_job();
  const auto whole = plan::make_plan(session(), options);
  REQUIRE(whole);
  plan::PlanCounts counts;
  Seconds best(HUGE_VAL);
  options.shards = 3;
  for (options.shard = 0; options.shard < options.shards; ++options.shard) {
    const auto part = plan::make_plan(session(), options);
    REQUIRE(part);
    counts += part->counts;
    best = std::min(best, part->rows.front().prediction.step_time.value);
  }
  CHECK(counts.tried == whole->counts.tried);
  CHECK(best == whole->rows.front().prediction.step_time.value);
}

TEST_CASE("a plan that is stopped at once says so", "[plan]") {
  plan::PlanOptions options = small_job();
  const std::atomic<bool> stop{true};
  options.stop = &stop;
  CHECK(refusal(options) == "plan: interrupted before a layout that fits was found\n");
}

TEST_CASE("what is kept is in every row", "[plan]") {
  plan::PlanOptions options = small_job();
  options.keep = {"pipeline-parallel=4", "schedule=zb-h1", "recompute=layer", "batch=2", "zero=0"};
  const auto found = plan::make_plan(session(), options);
  REQUIRE(found);
  for (const plan::PlanRow& row : found->rows) {
    CHECK(row.prediction.division.layout.pipeline == 4);
    CHECK(row.prediction.division.schedule == "zb-h1");
    CHECK(row.prediction.division.recompute == "layer");
    CHECK(row.prediction.job.batch_per_gpu == 2);
    CHECK(row.prediction.division.zero == 0);
    const auto again = predict(session(), row.options);
    REQUIRE(again);
    CHECK(again->step_time.value == row.prediction.step_time.value);
  }
}

TEST_CASE("values of options that are no axes are searched together", "[plan]") {
  plan::PlanOptions options = small_job();
  options.job.hardware = "dgx-h100";
  options.top = 4;
  plan::PlanCounts counts;
  Seconds best(HUGE_VAL);
  for (const char* const precision : {"bf16", "fp8"})
    for (const char* const overlaps : {"true", "false"}) {
      plan::PlanOptions one = options;
      one.job.precision = precision;
      one.job.set = {std::string("stack.parallel.overlaps_gradients=") + overlaps};
      const auto found = plan::make_plan(session(), one);
      REQUIRE(found);
      counts += found->counts;
      best = std::min(best, found->rows.front().prediction.step_time.value);
    }
  options.tried = {{"precision", {"bf16", "fp8"}}};
  options.values = {"stack.parallel.overlaps_gradients=true,false"};
  const auto all = plan::make_plan(session(), options);
  REQUIRE(all);
  CHECK(all->counts.tried == counts.tried);
  CHECK(all->rows.front().prediction.step_time.value == best);
  CHECK(all->rows.front().variant == "fp8, stack.parallel.overlaps_gradients=true");
  for (const plan::PlanRow& row : all->rows) {
    const auto again = predict(session(), row.options);
    REQUIRE(again);
    CHECK(again->step_time.value == row.prediction.step_time.value);
  }
}

TEST_CASE("values to try are refused before a search", "[plan]") {
  plan::PlanOptions options = small_job();
  options.values = {"stack.parallel.clips=true"};
  CHECK(refusal(options) ==
        "--try stack.parallel.clips=true: expected a key and values between commas, such as "
        "stack.parallel.overlaps_gradients=true,false\n");
  options.values = {"stack.parallel.clip=true,false"};
  CHECK(refusal(options).find("did you mean") != std::string::npos);
  options.values = {"stack.parallel.clips=true,false"};
  options.job.set = {"stack.parallel.clips=false"};
  CHECK(refusal(options).starts_with("--try stack.parallel.clips=true: "));
}

TEST_CASE("values to try are bounded", "[plan]") {
  plan::PlanOptions options = small_job();
  const auto bandwidths = [](int count) {
    std::string text = "hw.device.memory_bandwidth=";
    for (int i = 1; i <= count; ++i) text += fmt::format("{}1.{:04}x", i == 1 ? "" : ",", i);
    return text;
  };
  options.values = {bandwidths(257)};
  CHECK(refusal(options) ==
        "plan: 257 values of options and of --try make more than the 256 combinations that are searched; name fewer of them, or "
        "plan in turns\n");
  options.values = {bandwidths(129)};
  options.tried = {{"precision", {"bf16", "fp16"}}};
  CHECK(refusal(options).starts_with("plan: 2 x 129 values of options and of --try make more than the 256 "));
  const std::atomic<bool> stop{true};
  options.stop = &stop;
  options.values = {bandwidths(128)};
  CHECK(refusal(options) == "plan: interrupted before a layout that fits was found\n");
}

TEST_CASE("of many axes, those that heads and positions do not divide by are no groups", "[plan]") {
  // 240 divisors: 7,290 pairs of a tensor and a context axis with 240 numbers of samples and 17 divisions of the experts.
  PredictOptions options = job("deepseek-v3", "dgx-h100", "megatron-core-0.14", 720720);
  const auto base = configure(session(), options);
  REQUIRE(base);
  const auto kernels = plan::DrawnKernels::make(*base);
  REQUIRE(kernels);
  options.global_batch = 720720;
  const plan::Search search(*base, options, *kernels, false);
  std::size_t groups = 0;
  Progress progress([&](const Progress::State& state) { groups = state.all; });
  const std::atomic<bool> stop{true};
  const plan::Found found = search.run(0, 1, 600, &stop, &progress);
  CHECK(found.interrupted);
  CHECK(groups > 0);
  // Axes of 1, 2, 4, 8 and 16 GPUs whose product divides 720720: 15 pairs.
  CHECK(groups <= 15 * 17 * 240);
}

TEST_CASE("a network that an axis does not divide is refused with the reason", "[plan]") {
  plan::PlanOptions options = small_job();
  options.job.gpus = 24;
  options.job.global_batch = 48;
  options.keep = {"tensor-parallel=3"};
  CHECK(refusal(options) ==
        "no layout of gpt3-1.3b on 24 GPUs with tensor-parallel 3 makes updates of 48 samples; the first was refused: "
        "--tensor-parallel 3: the 16 heads of gpt3-1.3b do not divide over 3 GPUs\n");
}

TEST_CASE("layouts that differ in virtual stages alone share a row", "[plan]") {
  plan::PlanOptions options = small_job();
  options.keep = {"pipeline-parallel=4"};
  const auto found = plan::make_plan(session(), options);
  REQUIRE(found);
  std::set<std::tuple<int, int, int, std::string, int, int, std::string>> kinds;
  std::size_t folded = 0;
  for (const plan::PlanRow& row : found->rows) {
    const Prediction& p = row.prediction;
    CHECK(kinds
              .insert({p.division.layout.tensor, p.division.layout.context, p.division.layout.pipeline, p.division.schedule,
                       p.job.batch_per_gpu, p.division.zero, p.division.recompute})
              .second);
    for (const int parts : row.folded.virtual_stages) {
      PredictOptions other = row.options;
      other.virtual_stages = parts;
      const auto prediction = predict(session(), other);
      REQUIRE(prediction);
      if (!prediction->memory.fits) continue;
      ++folded;
      const double behind = prediction->step_time.value / p.step_time.value - 1.0;
      CHECK(behind >= -0.01);
      CHECK(behind <= row.folded.behind + 0.01);
    }
  }
  CHECK(folded > 0);
}

TEST_CASE("of several numbers of GPUs the best layout of each is told", "[plan]") {
  plan::PlanOptions options = small_job();
  options.gpus = {8, 16, 32};
  const auto found = plan::make_plan(session(), options);
  REQUIRE(found);
  REQUIRE(found->rows.size() == 3);
  CHECK(found->rows[0].prediction.job.gpus == 32);
  CHECK(found->rows[2].prediction.job.gpus == 8);
  options.objective = Objective::cost;
  const auto cheapest = plan::make_plan(session(), options);
  REQUIRE(cheapest);
  CHECK(cheapest->rows.front().prediction.cost.million_samples <= cheapest->rows.back().prediction.cost.million_samples);
}

TEST_CASE("limits of a run drop layouts, and what breaks them all is told", "[plan]") {
  plan::PlanOptions options = small_job();
  options.gpus = {8, 16, 32};
  options.tokens = 1e11;
  const auto free = plan::make_plan(session(), options);
  REQUIRE(free);
  REQUIRE(free->rows.size() == 3);
  for (const plan::PlanRow& row : free->rows) CHECK(row.run.has_value());
  options.limits.deadline = 0.5 * (free->rows[0].run->elapsed.value + free->rows[1].run->elapsed.value);
  const auto hurried = plan::make_plan(session(), options);
  REQUIRE(hurried);
  REQUIRE(hurried->rows.size() == 1);
  CHECK(hurried->rows.front().prediction.job.gpus == 32);
  CHECK(hurried->problems.size() == 2);
  options.limits.deadline = Seconds(3600.0);
  CHECK(refusal(options).starts_with("8 GPUs of dgx-a100-80gb: no layout keeps the limits: the nearest takes "));
  options.tokens.reset();
  CHECK(refusal(options) == "plan: deadline, budget, power limit and goodput are of a run: add --tokens, such as --tokens 15T\n");
}

TEST_CASE("plans that cannot be are refused with the reason", "[plan]") {
  const auto with = [](std::vector<std::string> keep) {
    plan::PlanOptions options = small_job();
    options.keep = std::move(keep);
    return refusal(options);
  };
  CHECK(with({"pipeline-parallel"}) ==
        "--keep pipeline-parallel: expected an axis and its value, such as pipeline-parallel=8; axes are tensor-parallel, "
        "sequence-parallel, context-parallel, expert-parallel, expert-tensor-parallel, pipeline-parallel, virtual-stages, "
        "schedule, first-stage-layers, last-stage-layers, stage-layers, zero, recompute, batch\n");
  CHECK(with({"pipeline-parallel=8", "pipeline-parallel=4"}) ==
        "--keep pipeline-parallel=4: pipeline-parallel is kept at 8 already\n");
  CHECK(with({"tensor-parallel=8", "pipeline-parallel=4"}) ==
        "--tensor-parallel 8 --context-parallel 1 --pipeline-parallel 4: one copy of the network takes 32 GPUs, which do not "
        "divide the 16 of the job\n");
  CHECK(with({"schedule=zb"}) == "unknown schedule \"zb\", did you mean \"zb-v\"?\n");
  CHECK(with({"tensor-parallel=1", "pipeline-parallel=1", "batch=3"}) ==
        "no layout of gpt3-1.3b on 16 GPUs with tensor-parallel 1, pipeline-parallel 1, batch 3 makes updates of 64 samples\n");
  plan::PlanOptions options = small_job();
  options.job.global_batch.reset();
  CHECK(refusal(options) ==
        "plan: --global-batch missing: the samples of one update over all GPUs, such as --global-batch 1024\n");
  options = small_job();
  options.job.model = "llama-3-405b";
  options.job.gpus = 8;
  const std::string nowhere = refusal(options);
  INFO(nowhere);
  CHECK(nowhere.find("llama-3-405b fits in none of ") == 0);
  plan::PlanOptions host = small_job();
  host.job = job("llama-2-70b", "dgx-a100-40gb", "fsdp2-2.6", 8, 2048);
  host.job.global_batch = 64;
  host.job.offload = "states";
  CHECK_THAT(refusal(host), Catch::Matchers::Contains("keeps 1.1 TB on a node's host of 1 TB") &&
                                Catch::Matchers::EndsWith("take more GPUs, or hosts with more memory\n"));
  host.job = job("llama-3-70b", "dgx-h100", "megatron-core-0.14", 8, 2048);
  host.job.global_batch = 128;
  CHECK_THAT(refusal(host), Catch::Matchers::EndsWith("GPUs with more memory, or keep states on the host: --offload states\n"));
  CHECK(nowhere.find(" too much (tbdsim predict --hw dgx-a100-80gb") != std::string::npos);
}

TEST_CASE("where no layout fits, the smallest has the memory that predict finds", "[plan]") {
  plan::PlanOptions options;
  options.job.hardware = "rtx-4090";
  options.job.model = "llama-2-7b";
  options.job.gpus = 4;
  options.job.global_batch = 64;
  options.job.precision = "bf16";
  options.job.stack = "fsdp2-2.6";
  for (const std::vector<std::string>& keep : {std::vector<std::string>{}, {"tensor-parallel=1", "zero=3"}, {"zero=0"}}) {
    options.keep = keep;
    const std::string nowhere = refusal(options);
    INFO(nowhere);
    const std::size_t begin = nowhere.find("(tbdsim predict "), end = nowhere.find(')', begin);
    REQUIRE(end != std::string::npos);
    PredictOptions smallest;
    std::istringstream words(nowhere.substr(begin + 1, end - begin - 1));
    std::string option, value;
    words >> option >> option;
    while (words >> option >> value) {
      const OptionRow* const row = find_option(option.substr(2), kInColumn);
      REQUIRE(row != nullptr);
      REQUIRE(read_option(*row, value, smallest, Range::checked).empty());
    }
    const auto predicted = predict(session(), smallest);
    REQUIRE(predicted);
    CHECK_FALSE(predicted->memory.fits);
    CHECK(smallest.batch == 1);
    Bytes peak(0.0);
    for (const GpuMemory& gpu : predicted->memory.gpus) peak = std::max(peak, gpu.peak);
    CHECK(nowhere.find("the smallest of those predicted takes " + format(peak) + " of the 25.8 GB") != std::string::npos);
    CHECK(nowhere.find(", 0 B too much") == std::string::npos);
  }
}

TEST_CASE("a board without bf16 is planned in fp16 or fp32, which the plan says", "[plan]") {
  for (const auto& [hardware, precision, said] :
       {std::tuple("dgx1", "fp16", true), std::tuple("titan-xp", "fp32", true), std::tuple("dgx-a100-80gb", "bf16", false)}) {
    plan::PlanOptions options;
    options.job.hardware = hardware;
    options.job.model = "gpt3-125m";
    options.job.gpus = 1;
    options.job.global_batch = 8;
    options.keep = {"context-parallel=1", "tensor-parallel=1", "pipeline-parallel=1"};
    const auto found = plan::make_plan(session(), options);
    INFO(hardware);
    REQUIRE(found);
    CHECK(found->rows.front().options.precision == precision);
    CHECK(found->notices.empty() != said);
  }
}

TEST_CASE("networks without attention are planned with the newest PyTorch, which the plan says", "[plan]") {
  plan::PlanOptions options;
  options.job.hardware = "dgx-a100-80gb";
  options.job.model = "resnet50";
  options.job.gpus = 8;
  options.job.global_batch = 256;
  options.keep = {"pipeline-parallel=1", "batch=32"};
  const auto found = plan::make_plan(session(), options);
  REQUIRE(found);
  CHECK(found->rows.front().options.stack.starts_with("pytorch-2."));
  REQUIRE(found->notices.size() == 1);
  CHECK(found->notices.front() ==
        "planned with " + found->rows.front().options.stack +
            ": resnet50 has no attention, which the stacks of transformers are for; --stack names another");
}

TEST_CASE("names of several machines and limits are checked before the search", "[plan]") {
  plan::PlanOptions options = small_job();
  options.hardware = {"dgx-a100-80gb", "dgx-h10"};
  CHECK(refusal(options) == "no system or GPU called \"dgx-h10\", did you mean \"dgx-h100\"?\n");
  options = small_job();
  options.tokens = 1e9;
  options.limits.budget = Usd(0.0);
  options.limits.deadline = Seconds(-1.0);
  CHECK(refusal(options) == "--deadline: expected a time above 0, got -1 s\n--budget: expected an amount above 0, got 0 USD\n");
}

TEST_CASE("a budget that pays for no node is said once for all numbers of GPUs", "[plan]") {
  plan::PlanOptions options = small_job();
  options.gpus = {8, 16};
  options.tokens = 1e9;
  options.limits.budget = Usd(5.0);
  CHECK(refusal(options) == "8, 16 GPUs of dgx-a100-80gb: --budget 5 USD: does not pay for one node for one hour (7.57 USD)\n");
}

TEST_CASE("a schedule that the framework lacks is searched where it is kept, and the plan says so", "[plan]") {
  plan::PlanOptions options = small_job();
  options.keep = {"pipeline-parallel=4", "schedule=zb-h1", "recompute=layer", "batch=2", "zero=0"};
  const auto found = plan::make_plan(session(), options);
  REQUIRE(found);
  const std::vector<std::string>& notices = found->rows.front().prediction.notices;
  CHECK(std::count(notices.begin(), notices.end(),
                   "--schedule zb-h1: what it would bring; megatron-core-0.8 has 1f1b interleaved alone") == 1);
}

TEST_CASE("positions that no layout divides, and extents that are none, are refused as predict does", "[plan]") {
  plan::PlanOptions options = small_job();
  options.keep = {"sequence-parallel=on"};
  options.job.seq_len = 1023;
  CHECK(refusal(options).find("--sequence-parallel on: the positions of ") != std::string::npos);
  options.job.tensor_parallel = 0;
  CHECK(refusal(options).find("--tensor-parallel 0: expected at least 1") != std::string::npos);
  options.job.tensor_parallel = 2;
  options.job.context_parallel = 0;
  CHECK(refusal(options).find("--context-parallel 0: expected at least 1") != std::string::npos);
}

TEST_CASE("bought machines are paid for on the terms that are asked for, rented ones as they are", "[plan]") {
  plan::PlanOptions options = small_job();
  options.hardware = {"dgx-h100", "aws-p5.48xlarge"};
  options.gpus = {16};
  options.objective = Objective::cost;
  options.tokens = 1e10;
  const auto usual = plan::make_plan(session(), options);
  REQUIRE(usual);
  options.terms = CostTerms{};
  options.terms->years = 6.0;
  options.terms->duty = 0.25;
  const auto idle = plan::make_plan(session(), options);
  REQUIRE(idle);
  const auto of = [](const plan::Plan& plan, const std::string& hardware) -> const plan::PlanRow& {
    return plan.rows[plan.rows[0].prediction.job.hardware == hardware ? 0 : 1];
  };
  const plan::PlanRow &own = of(*idle, "dgx-h100"), &before = of(*usual, "dgx-h100");
  // Twice the years at a quarter of the use: half the hours.
  CHECK_THAT(*own.prediction.cost.hour / *before.prediction.cost.hour, WithinRel(2.0, 1e-12));
  CHECK_THAT(*own.run->cost / *before.run->cost, WithinRel(2.0, 1e-12));
  CHECK(*of(*idle, "aws-p5.48xlarge").run->cost == *of(*usual, "aws-p5.48xlarge").run->cost);
  options.terms->power_price = Usd(0.2) / Joules(3.6e6);
  const auto powered = plan::make_plan(session(), options);
  REQUIRE(powered);
  const plan::PlanRow& lit = of(*powered, "dgx-h100");
  CHECK_THAT((*lit.run->cost - *own.run->cost) / (*own.run->energy * *options.terms->power_price), WithinRel(1.0, 1e-9));
  CHECK_THAT(*lit.prediction.cost.hour / 3600.0 / lit.prediction.throughput.value * 1e6 / *lit.prediction.cost.million_samples,
             WithinRel(1.0, 1e-9));
  // Neither beats the other by cost, since one is bought and one rented.
  CHECK(plan::paid_unlike(usual->rows));
  const std::string text = plan_table(*powered, Objective::cost);
  CHECK(text.find("USD/M\n") != std::string::npos);
  CHECK(text.find(" sequences paid") != std::string::npos);
  CHECK(text.find("Some rows are bought") != std::string::npos);
  CHECK(text.find("dgx-h100: bought, ") != std::string::npos);
  CHECK(text.find("aws-p5.48xlarge: rented, ") != std::string::npos);
}

TEST_CASE("the layout of a file stands beside the rows, and its settings are the job's", "[plan]") {
  plan::PlanOptions options = small_job();
  options.job.stack = "";
  options.job.precision = "";
  options.job.global_batch.reset();
  options.job.gpus = 16;
  const std::string file = "yours-of-plan.txt";
  std::ofstream(file) << "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 2 --micro-batch-size 1 "
                         "--global-batch-size 64 --bf16 --recompute-granularity full --recompute-method uniform\n";
  options.job.layout_from = file;
  const auto found = plan::make_plan(session(), options);
  std::remove(file.c_str());
  INFO((found ? "" : to_text(found.error())));
  REQUIRE(found);
  REQUIRE(found->yours);
  CHECK(found->yours->prediction.division.layout.tensor == 8);
  CHECK(found->yours->prediction.division.recompute == "layer");
  CHECK(found->yours->behind > 0.0);
  CHECK(found->rows.front().options.global_batch == 64);
  CHECK(found->rows.front().options.stack == found->yours->options.stack);
  CHECK(found->rows.front().options.precision == "bf16");
  // What it gives up is what both predictions say.
  CHECK_THAT(found->yours->prediction.step_time.value / found->rows.front().prediction.step_time.value,
             WithinRel(1.0 + found->yours->behind, 1e-9));
  CHECK(plan_csv(*found).find("\nyours,") != std::string::npos);
  options.gpus = {16, 32};
  CHECK(refusal(options) ==
        "--layout-from: a layout is of one machine and one number of GPUs: leave one of --hw and one of --gpus\n");
}

TEST_CASE("rows of a run are whole in CSV", "[plan]") {
  plan::PlanOptions options = small_job();
  options.tokens = 1e10;
  options.top = 1;
  const auto found = plan::make_plan(session(), options);
  REQUIRE(found);
  const std::string csv = plan_csv(*found);
  CHECK(csv.find(",expert_tensor,paid_by,run_days,run_goodput,run_power_w,run_energy_j,run_cost_usd,run_spare_nodes,joule_per_"
                 "sample_with_host\n") != std::string::npos);
  CHECK(csv.find(fmt::format(",{},{},{},{},{},{},{}\n", found->rows[0].run->elapsed.value.base() / 86400.0,
                             found->rows[0].run->goodput.share, found->rows[0].run->power->base(),
                             found->rows[0].run->energy->base(), found->rows[0].run->cost->base(), found->rows[0].run->spares,
                             node_energy(found->rows[0].prediction)->base())) != std::string::npos);
}
