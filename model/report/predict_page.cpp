#include "model/report/predict_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "model/report/pipeline_trace.hpp"
#include "model/study/pareto.hpp"
#include "model/study/payment.hpp"

namespace tbdsim {
namespace {

/// Texts of the timeline, each once; a kernel names its own by their numbers.
class Words {
 public:
  std::size_t number(const std::string& word) {
    const auto [at, fresh] = numbers_.emplace(word, words_.size());
    if (fresh) words_.push_back(word);
    return at->second;
  }
  /// Names may come from a user's file; bytes that are no UTF-8 must not end the program.
  [[nodiscard]] std::string text() const { return words_.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

 private:
  std::map<std::string, std::size_t> numbers_;
  nlohmann::json words_ = nlohmann::json::array();
};

/// Of each rank its blocks: letter, part of the network, micro-batch, start, time, wait and the idle time before it in us, memory
/// in bytes; then start and time of what it waits for of the exchange, and of the update. Null: nothing is drawn.
std::string drawing_json(const StepDrawing& drawing) {
  constexpr double kMicroseconds = 1e6;
  if (drawing.ranks.empty()) return "null";
  const auto us = [](Seconds time) { return kMicroseconds * time.base(); };
  std::string ranks;
  for (const DrawnRank& rank : drawing.ranks) {
    std::string blocks;
    for (const DrawnBlock& b : rank.blocks)
      blocks += fmt::format("{}[\"{}\",{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.0f}]", blocks.empty() ? "" : ",", letter(b.kind),
                            b.stage, b.micro_batch, us(b.start), us(b.time), us(b.exposed), us(b.idle), b.held.base());
    ranks += fmt::format("{}{{\"blocks\": [{}], \"exchange\": [{:.3f},{:.3f}], \"update\": [{:.3f},{:.3f}]}}",
                         ranks.empty() ? "" : ",", blocks, us(rank.exchange_start), us(rank.exchange), us(rank.update_start),
                         us(rank.update));
  }
  return fmt::format("{{\"ranks\": [{}], \"drawn\": \"{}\"}}", ranks, drawn_text(drawing));
}

/// What the page draws: of each kernel five words, start and time in us, FLOP and bytes; of each exchange start and time; of each
/// other lane its name, what it does, start and time.
std::string timeline_json(const Prediction& prediction) {
  constexpr double kMicroseconds = 1e6;
  Words words;
  std::string kernels, exchanges, lanes;
  for (const KernelTime& k : prediction.detail.kernels) {
    const std::size_t layer = words.number(k.layer), pass = words.number(std::string(name(k.pass))), name = words.number(k.name),
                      algorithm = words.number(k.algorithm), bound = words.number(k.bound);
    kernels +=
        fmt::format("{}[{},{},{},{},{},{:.3f},{:.3f},{:.4g},{:.4g}]", kernels.empty() ? "" : ",", layer, pass, name, algorithm,
                    bound, kMicroseconds * k.start.base(), kMicroseconds * k.time.base(), k.flop.base(), k.bytes.base());
  }
  for (const ExchangeTime& e : prediction.detail.exchanges)
    exchanges += fmt::format("{}[{:.3f},{:.3f}]", exchanges.empty() ? "" : ",", kMicroseconds * e.start.base(),
                             kMicroseconds * e.time.base());
  for (const LaneEvent& l : prediction.detail.lanes) {
    const std::size_t lane = words.number(l.lane), name = words.number(l.name);
    lanes += fmt::format("{}[{},{},{:.3f},{:.3f}]", lanes.empty() ? "" : ",", lane, name, kMicroseconds * l.start.base(),
                         kMicroseconds * l.time.base());
  }
  return fmt::format(R"({{"words": {}, "kernels": [{}], "exchanges": [{}], "lanes": [{}], "pipeline": {}}})", words.text(),
                     kernels, exchanges, lanes, drawing_json(prediction.detail.drawing));
}

/// How every point can be paid for: as the last, the job itself, is told to be, where all can. Else by what is known of all.
PaidBy shared_payment(const std::vector<Prediction>& points) {
  if (points.empty()) return PaidBy::nothing;
  for (const PaidBy by : {paid_by(points.back()), PaidBy::purchase, PaidBy::rent}) {
    if (by != PaidBy::nothing &&
        std::all_of(points.begin(), points.end(), [by](const Prediction& p) { return payment_of(p, by); }))
      return by;
  }
  return PaidBy::nothing;
}

/// What a million samples cost at each point, all paid for alike, and whether it is on the front of time and cost of a sample and
/// memory of a GPU, among those that fit; empty where no one payment is known of all.
std::string front_json(const std::vector<Prediction>& points) {
  constexpr double kMillion = 1e6;
  const PaidBy by = shared_payment(points);
  if (by == PaidBy::nothing) return R"("paid_by": "", "costs": [], "front": [])";
  std::vector<Choice> choices;
  std::string costs, fronts;
  for (const Prediction& p : points) {
    const Usd cost = sample_cost(p, *payment_of(p, by));
    costs += fmt::format("{}{}", costs.empty() ? "" : ",", kMillion * cost.base());
    if (!p.memory.fits) continue;
    Choice choice{Seconds(1.0 / p.throughput.value), cost, Bytes(0.0)};
    for (const GpuMemory& gpu : p.memory.gpus) choice.memory = std::max(choice.memory, gpu.peak);
    choices.push_back(choice);
  }
  const std::vector<bool> front = pareto_front(choices);
  std::size_t at = 0;
  for (const Prediction& p : points) fronts += fmt::format("{}{}", fronts.empty() ? "" : ",", p.memory.fits && front[at++]);
  return fmt::format(R"("paid_by": "{}", "costs": [{}], "front": [{}])", name(by), costs, fronts);
}

std::string roofs_json(const Roofs& roofs) {
  return fmt::format(R"({{"fp32_flops": {}, "tensor_flops": {}, "memory_bytes_per_s": {}}})", roofs.fp32.base(),
                     roofs.tensor ? fmt::format("{}", roofs.tensor->base()) : "null", roofs.memory.base());
}

}  // namespace

std::string predict_page_data(const Prediction& prediction, const PredictParts& parts, const std::vector<Prediction>& scaling,
                              const Roofs& roofs) {
  PredictParts whole = parts;
  whole.layers = whole.kernels = whole.links = true;
  std::string points;
  for (const Prediction& p : scaling) points += (points.empty() ? "" : ",\n") + predict_json(p, {});
  return "{\"prediction\": " + predict_json(prediction, whole) + ", \"timeline\": " + timeline_json(prediction) +
         ", \"scaling\": [" + points + "], " + front_json(scaling) + ", \"roofs\": " + roofs_json(roofs) + "}";
}

}  // namespace tbdsim
