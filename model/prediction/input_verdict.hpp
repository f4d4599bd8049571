#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "model/schedule/input_pipeline.hpp"

namespace tbdsim {

/// What loading is made of.
enum class InputPart { storage, decoding, copy, network };
[[nodiscard]] std::string_view name(InputPart part);

/// Loading beside training, of one node and a steady step.
struct InputVerdict {
  std::string storage;         ///< where samples are read; empty: from memory, at no cost
  int workers = 0;             ///< threads or processes that decode
  int loaders = 1;             ///< for which they work: processes that load their own samples
  Seconds load, train;         ///< a step's samples alone, the step with its samples at hand
  Seconds overlapped;          ///< of loading, beside training
  Seconds read, decode, copy;  ///< what loading is made of; they work on different batches at a time
  Seconds decoding;            ///< of a step's samples of a node, thread time of all workers together
  Seconds transfer;            ///< over the network, of samples that other machines prepare
  BytesPerSecond arriving;     ///< of such samples at a node
  int hosts = 0;               ///< other machines that prepare samples; 0: the nodes do
  int nodes = 1;               ///< that load
  Seconds sample;              ///< decoding one on one thread
  std::string
      decode_of;  ///< whose figure that is: "stack NAME", "input NAME", "copy within host memory"; empty: nothing is decoded
  InputPart slowest = InputPart::decoding;
  double ratio = 0.0;                 ///< samples that are loaded over those that the GPUs take; 0: nothing trains
  std::optional<int> needed;          ///< workers with which decoding keeps up; absent: no number does, or nothing trains
  std::string text;                   ///< verdict and margin
  std::string later_epochs;           ///< what changes once the data set lies in memory; empty: nothing
  std::optional<Seconds> later_step;  ///< a step of those epochs; absent: as long as one of the first
};

/// Judges a pipeline that feeds a trainer whose step takes `training`. `pace` is what both reach together.
/// Expects samples >= 1.
[[nodiscard]] InputVerdict judge_input(const InputPipeline& pipeline, const InputPace& pace, std::int64_t samples,
                                       Seconds training, Seconds step, std::uint64_t seed, bool mock_trainer);

}  // namespace tbdsim
