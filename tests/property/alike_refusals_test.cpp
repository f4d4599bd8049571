// What one verb refuses, all refuse, with the same words: exchanges that a job cannot have, whatever is asked about it.
#include <fmt/format.h>

#include "model/prediction/max_batch.hpp"
#include "model/prediction/memory_report.hpp"
#include "model/stack/exchange.hpp"
#include "model/study/explain.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"

using namespace tbdsim;

namespace {

template <class T>
std::string problems(const Result<T>& answer) {
  return answer ? "" : to_text(answer.error());
}

}  // namespace

TEST_CASE("an exchange that the job cannot have is refused alike by predictions, memory reports and the search for batches") {
  int refused = 0;
  for (const ExchangeInfo& exchange : exchanges())
    for (const char* stack : {"pytorch-2.1", "mxnet-1.2", "tensorflow-1.12"})
      for (const auto& [gpus, nodes] : {std::pair{1, 1}, {4, 1}, {16, 2}})
        for (const int accumulate : {1, 2}) {
          PredictOptions o;
          o.hardware = "dgx1";
          o.model = "alexnet";
          o.stack = stack;
          o.exchange = exchange.name;
          o.gpus = gpus;
          if (nodes > 1) o.nodes = nodes;
          o.accumulate = accumulate;
          INFO(fmt::format("{} {} {} GPUs, {} nodes, {} micro-batches", exchange.name, stack, gpus, nodes, accumulate));
          const std::string step = problems(predict(session(), o));
          CHECK(problems(report_memory(session(), o, {false, false})) == step);
          CHECK(problems(largest_batch(session(), o)) == step);
          refused += step.empty() ? 0 : 1;
        }
  CHECK(refused > 20);
}

TEST_CASE("nodes without a network are refused alike") {
  PredictOptions o;
  o.hardware = "p4000";
  o.model = "alexnet";
  o.nodes = 2;
  const std::string expected = "p4000: 2 nodes need a network; name one with --network\n";
  CHECK(problems(predict(session(), o)) == expected);
  CHECK(problems(report_memory(session(), o, {false, false})) == expected);
  CHECK(problems(largest_batch(session(), o)) == expected);
  CHECK(problems(explain(session(), o)) == expected);
}
