// Goals set on: AMD EPYC (family 26), 4 threads of a shared virtual machine, GCC 12, Release.
// A question is what Python, the page and claims ask: options as text in, JSON out, the catalogue read before.
#include "model/cli/question.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "tests/bench/bench.hpp"
#include "tests/bench/step_case.hpp"

namespace tbdsim::bench {

namespace {

constexpr int kRuns = 5;

/// Every question has one of 64 batch sizes, so none is the one before.
Question question(const std::string& network, int number) {
  return {"predict", {{"hw", "dgx1"}, {"model", network}, {"gpus", "1"}, {"batch", std::to_string(1 + number % 64)}}};
}

void ask(Answerer& answerer, const std::string& network, int first, int count, int stride) {
  for (int i = first; i < count; i += stride) keep(answerer.ask(question(network, i)));
}

/// Seconds per question; they should not depend on how many were asked before.
double asked(Report& report, int count) {
  const std::string name = fmt::format("questions: {} predictions of resnet50, one after the other", count);
  if (!report.wanted(name)) return 0.0;
  Answerer answerer(catalogue());
  ask(answerer, "resnet50", 0, 1, 1);
  return report.each(name, Seconds(0.8e-3), kRuns, count, [&] { ask(answerer, "resnet50", 0, count, 1); }).min;
}

/// The same on two threads, which share what was read.
void asked_by_two(Report& report, int count) {
  const std::string name = fmt::format("questions: {} predictions of resnet50 on two threads", count);
  if (!report.wanted(name)) return;
  Answerer answerer(catalogue());
  ask(answerer, "resnet50", 0, 1, 1);
  report.rate(name, count, "predictions", 2000.0, kRuns, [&] {
    std::thread other([&] { ask(answerer, "resnet50", 1, count, 2); });
    ask(answerer, "resnet50", 0, count, 2);
    other.join();
  });
}

/// Reading a question, which is the same for every network.
void read(Report& report) {
  constexpr int kCalls = 1000;
  report.each("questions: one read, not answered", Seconds(50e-6), kRuns, kCalls, [] {
    for (int i = 0; i < kCalls; ++i) keep(read_question(question("resnet50", i)));
  });
}

}  // namespace

void bench_question(Report& report) {
  read(report);
  const double few = asked(report, 250), many = asked(report, 4000);
  if (few > 0.0 && many > 0.0) report.ratio("questions: cost of one after 16 times as many", many / few, 1.2);
  asked_by_two(report, 4000);
}

}  // namespace tbdsim::bench
