#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "model/configuration/choose_layout.hpp"
#include "model/configuration/configure.hpp"
#include "model/prediction/step_prediction.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"

namespace tbdsim {

inline PredictOptions job(const char* model, const char* hardware, const char* stack, int gpus, int seq_len = 0) {
  PredictOptions options;
  options.hardware = hardware;
  options.model = model;
  options.stack = stack;
  options.gpus = gpus;
  options.precision = "bf16";
  if (seq_len > 0) options.seq_len = seq_len;
  return options;
}

/// Draws layouts that `predict` takes, with 1 to 4 micro-batches for each stage.
class RandomLayouts {
 public:
  RandomLayouts(Configuration base, PredictOptions options, std::uint32_t seed)
      : base_(std::move(base)), options_(std::move(options)), random_(seed) {}

  Configuration next() {
    for (;;) {
      PredictOptions asked = options_;
      asked.tensor_parallel = power(4);
      asked.context_parallel = draw(3) == 0 ? power(2) : 1;
      asked.pipeline_parallel = power(5);
      const bool experts = base_.network_graph().graph.name.find("mixtral") != std::string::npos;
      if (experts && draw(2) == 0) asked.expert_parallel = power(3);
      asked.batch = power(3);
      asked.zero = static_cast<int>(draw(4));
      const char* const kRecompute[] = {"none", "selective", "layer"};
      asked.recompute = kRecompute[draw(3)];
      const bool piped = *asked.pipeline_parallel > 1;
      asked.accumulate = piped ? *asked.pipeline_parallel * static_cast<int>(1 + draw(12)) : static_cast<int>(1 + draw(16));
      const char* const kSchedules[] = {"1f1b", "gpipe", "interleaved", "zb-h1", "zb-v", "dualpipe"};
      if (piped) asked.schedule = kSchedules[draw(6)];
      if (asked.schedule == "interleaved") asked.virtual_stages = static_cast<int>(2 + draw(3));
      Configuration drawn = base_;
      const Recompute kinds[] = {
          Recompute::none,
          base_.stack.parallel.selective == SelectiveRecompute::attention ? Recompute::attention : Recompute::operators,
          Recompute::layer};
      drawn.recompute = kinds[asked.recompute == std::string("none") ? 0 : asked.recompute == std::string("layer") ? 2 : 1];
      if (!choose_division(asked, drawn).empty() || !drawn.by_layers()) continue;
      return drawn;
    }
  }

 private:
  std::size_t draw(std::size_t count) { return random_() % count; }
  int power(int most) { return 1 << draw(static_cast<std::size_t>(most) + 1); }

  Configuration base_;
  PredictOptions options_;
  std::mt19937 random_;
};

}  // namespace tbdsim
