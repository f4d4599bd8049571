#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/cost/occupancy.hpp"
#include "model/prediction/step_drawing.hpp"
#include "model/units/quantity.hpp"
#include "model/workload/pass.hpp"

namespace tbdsim {

/// One layer (operator) with its share of the step, and one kernel as a profiler would list it.
struct LayerTime {
  std::string name, kind, shape;
  std::int64_t parameters = 0;
  Seconds forward, backward_data, backward_weights, update;
  Flop flop;
  bool tensor_core = false;  ///< some of its kernels run there
};

struct KernelTime {
  std::string name, layer, algorithm, bound;  ///< bound: compute, memory, launch
  Pass pass = Pass::forward;
  Seconds time, start;  ///< of all its launches
  Flop flop;
  Bytes bytes;
  double fp32_utilization = 0;    ///< share of its time that the units it runs on (fp32 or tensor cores) execute multiply-adds
  double useful_utilization = 0;  ///< useful FLOP over the listed peak of those units
  double occupancy = 0;           ///< achieved, as modelled
  StallShares stalls{};           ///< of its time, in the order of `Stall`
  std::string stall{};            ///< the largest of them
  Bytes live{};                   ///< device memory in use by arrays while it runs, the same on all ranks
  std::int64_t launches = 1;      ///< equal ones, where layers are simulated by class
};

/// Host time of a step by cause: what one thread, or one kind of worker of a node, does for it.
struct HostTime {
  std::string thread, cause;
  std::int64_t calls = 0;
  Seconds time;  ///< of all calls
};

/// What a trace shows beside kernels and exchanges: a thread, worker or copy engine at work.
struct LaneEvent {
  std::string lane, name;
  Seconds start, time;
};

/// One gradient exchange of a step: a bucket's way around the rings.
struct ExchangeTime {
  Seconds start, time;
};

/// What one direction of a bundle of links carries in a step.
struct LinkTraffic {
  std::string name;  ///< "gpu0-gpu3 >"
  BytesPerSecond capacity;
  Bytes bytes;      ///< per step
  double busy = 0;  ///< share of the step in which something moves on it
  double used = 0;  ///< bytes over what it could carry in the step
};

/// What `detail` adds to a prediction.
struct StepDetails {
  std::vector<LayerTime> layers;
  std::vector<KernelTime> kernels;      ///< of one rank, in time order
  std::vector<ExchangeTime> exchanges;  ///< in time order
  std::vector<HostTime> host;           ///< of the slowest rank's process and a node's workers
  std::vector<LaneEvent> lanes;         ///< of the same, within one steady step
  std::vector<LinkTraffic> links;       ///< links that the exchange uses
  StepDrawing drawing;                  ///< of a step that is simulated layer by layer
};

}  // namespace tbdsim
