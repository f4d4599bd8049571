// Goals set on: Intel Xeon, 4 cores of a shared virtual machine, GCC 12, Release.
#include <fmt/core.h>
#include <omp.h>

#include <chrono>
#include <vector>

#include "model/configuration/choose_layout.hpp"
#include "model/configuration/configure.hpp"
#include "model/plan/fast_memory.hpp"
#include "model/plan/fast_step.hpp"
#include "model/plan/variants.hpp"
#include "tests/bench/bench.hpp"

namespace tbdsim::bench {

namespace {

PredictOptions gpt3(int gpus) {
  PredictOptions options;
  options.hardware = "dgx-a100-80gb";
  options.model = "gpt3-175b";
  options.stack = "megatron-lm-2022";
  options.precision = "bf16";
  options.gpus = gpus;
  return options;
}

/// The layouts that `plan` searches where the settings of the framework that Calculon's search has are tried as well
/// (github.com/calculon-ai/calculon, llm/optimal_execution.py): reduce-scatter and all-gather in place of all-reduces, what is
/// gathered kept or gathered again, what runs beside the collectives of the tensor axis and beside gradients. Beyond these: all
/// schedules, context parallelism, three ways of attention; hops that block or not. It also has offloading and collectives
/// of single hops, which are not modelled.
plan::PlanOptions every_setting() {
  plan::PlanOptions options;
  options.job = gpt3(512);
  options.job.global_batch = 110'880;
  options.every_schedule = true;
  options.tried = {{"sequence-parallel", {"on", "off"}}, {"attention", {"unfused", "flash-1", "flash-2"}}};
  options.values = {"stack.parallel.tensor_overlap=none,pieces,weights", "stack.parallel.overlaps_gradients=true,false",
                    "stack.parallel.regathers=true,false", "stack.parallel.blocking_hops=true,false"};
  return options;
}

void large_search(Report& report, Session& session) {
  const std::string name = "plan: GPT-3 175B on 512 GPUs, all settings of the framework";
  if (!report.wanted(name)) return;
  const plan::PlanOptions options = every_setting();
  std::vector<std::string> problems, notices;
  const auto variants = plan::Variants::make(session, options.job, options, problems, notices);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(2);
  const auto start = std::chrono::steady_clock::now();
  const auto tried = variants->search(options, 600).counts.tried;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  omp_set_num_threads(threads);
  // Once: the whole takes most of a minute.
  report.ratio(fmt::format("{}, {} layouts, 2 cores (s)", name, tried), elapsed.count(), 60.0);
}

/// Whole searches of one core: growing numbers of GPUs, and of samples of an update, which make more layouts of the same shares.
void searches(Report& report, Session& session) {
  const auto run = [&](int gpus, int samples, double goal) {
    const std::string name = fmt::format("plan: GPT-3 175B on {} GPUs, {} samples", gpus, samples);
    if (!report.wanted(name)) return;
    PredictOptions job = gpt3(gpus);
    const auto base = configure(session, job);
    job.global_batch = samples;
    const auto kernels = plan::DrawnKernels::make(*base);
    const plan::Search search(*base, job, *kernels, true);
    const auto tried = static_cast<double>(search.run(0, 1, 100, nullptr, nullptr).counts.tried);
    report.rate(fmt::format("{}, {:.0f} layouts", name, tried), tried, "layouts", goal, 3,
                [&] { keep(search.run(0, 1, 100, nullptr, nullptr).counts.tried); });
  };
  for (const int gpus : {64, 512}) run(gpus, 1536, 20'000);
  run(512, 110'880, 100'000);
}

/// Experts are divided in many more ways than dense layers.
void expert_search(Report& report, Session& session) {
  const std::string name = "plan: DeepSeek-V3 on 16,384 GPUs";
  if (!report.wanted(name)) return;
  plan::PlanOptions options;
  options.job.hardware = "dgx-h100";
  options.job.model = "deepseek-v3";
  options.job.gpus = 16'384;
  options.job.seq_len = 4096;
  options.job.global_batch = 15'360;
  std::vector<std::string> problems, notices;
  const auto variants = plan::Variants::make(session, options.job, options, problems, notices);
  const auto start = std::chrono::steady_clock::now();
  const auto tried = variants->search(options, 600).counts.tried;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  report.ratio(fmt::format("{}, {} layouts (s)", name, tried), elapsed.count(), 5.0);
}

/// One layout whose layers are known: as most of a large space are.
void evaluations(Report& report, Session& session) {
  const auto base = configure(session, gpt3(512));
  const auto kernels = plan::DrawnKernels::make(*base);
  plan::FastStep step(*base, *kernels);
  plan::FastMemory memory(*base, kernels->at(0));
  for (const int ranks : {2, 8, 32}) {
    std::vector<Configuration> layouts;
    for (const char* const schedule : {"gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "dualpipe"})
      for (const int zero : {0, 1, 2})
        for (const int batch : {1, 2, 4}) {
          PredictOptions options = gpt3(512);
          options.tensor_parallel = 8;
          options.pipeline_parallel = ranks;
          options.schedule = schedule;
          if (options.schedule == "interleaved") options.virtual_stages = 3;
          options.zero = zero;
          options.batch = batch;
          options.global_batch = 1536;
          Configuration layout = *base;
          if (choose_division(options, layout).empty()) layouts.push_back(layout);
        }
    const auto run = [&] {
      for (const Configuration& layout : layouts) {
        const auto& share = *step.share(layout.layout);
        keep(memory.held(layout, share, step.places(layout, share)));
        keep(step.time(layout, plan::Depth::closed_form));
      }
    };
    report.rate(fmt::format("plan: time and memory of a layout of {} stages", ranks), static_cast<double>(layouts.size()),
                "layouts", 100'000, 21, run);
  }
}

}  // namespace

void bench_plan(Report& report) {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  searches(report, *session);
  large_search(report, *session);
  expert_search(report, *session);
  evaluations(report, *session);
}

}  // namespace tbdsim::bench
