// Goals set on: AMD EPYC (family 26), 2 cores of a shared virtual machine, GCC 12, Release.
#include "model/prediction/predict.hpp"
#include "model/prediction/step_times.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/step_case.hpp"

namespace tbdsim::bench {

namespace {

constexpr int kRuns = 20;
constexpr int kCalls = 50;

/// The parts of one step, then all of them. Identical ranks are simulated once, so the task graph is that of one rank
/// and the links of its rings. Lowering includes the kernel costs, which are most of it.
void parts(Report& report) {
  const StepCase c = dgx1_step("resnet50", 8);
  const LoweredStep step = c.lowered();
  const engine::Timeline timeline = engine::simulate(step.graph);
  const auto each = [&](std::string_view name, Seconds goal, auto work) {
    report.each(name, goal, kRuns, kCalls, [&] {
      for (int i = 0; i < kCalls; ++i) work();
    });
  };
  each("step of resnet50 on 8 GPUs: kernel costs", Seconds(150e-6), [&] {
    for (const StepNode& node : step.nodes) keep(c.kernels.cost(c.graph, node, c.batch));
  });
  each("step of resnet50 on 8 GPUs: lower, with kernel costs", Seconds(200e-6), [&] { keep(c.lowered()); });
  each("step of resnet50 on 8 GPUs: simulate", Seconds(200e-6), [&] { keep(engine::simulate(step.graph)); });
  each("step of resnet50 on 8 GPUs: step times", Seconds(50e-6), [&] { keep(step_times(step, timeline)); });
  each("step of resnet50 on 8 GPUs: all of these", Seconds(1e-3), [&] {
    const LoweredStep lowered = c.lowered();
    keep(step_times(lowered, engine::simulate(lowered.graph)));
  });
}

}  // namespace

void bench_predict(Report& report) {
  parts(report);
  PredictOptions options;
  options.hardware = "dgx1";
  options.model = "resnet50";
  options.gpus = 8;
  // A whole command may take 10 ms, of which the process itself takes 2 to 3.
  report.time("predict resnet50 on dgx1, nothing read yet", Seconds(7e-3), kRuns,
              [&] { keep(predict(*open_session(catalogue()), options)); });
  const auto session = open_session(catalogue());
  report.time("predict resnet50 on dgx1, files read", Seconds(1e-3), kRuns, [&] { keep(predict(*session, options)); });
}

}  // namespace tbdsim::bench
