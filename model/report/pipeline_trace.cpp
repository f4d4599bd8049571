#include "model/report/pipeline_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tbdsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kLetters{"F", "B", "W"};
constexpr std::array<std::string_view, 3> kNames{"forward", "backward", "weight gradients"};

double microseconds(Seconds time) { return 1e6 * time.base(); }

/// The lanes of one rank.
class RankTrace {
 public:
  RankTrace(const Prediction& prediction, int rank, Json& events)
      : prediction_(prediction),
        row_(prediction.detail.drawing.ranks[static_cast<std::size_t>(rank)]),
        rank_(rank),
        events_(events) {}

  void write() {
    const bool stages = prediction_.detail.drawing.ranks.size() > 1;
    name("process_name", 0,
         stages ? fmt::format("rank {} of the pipeline, {}", rank_, prediction_.job.device) : prediction_.job.device);
    name("thread_name", kPasses, "passes");
    name("thread_name", kExposed, "exposed communication");
    for (const DrawnBlock& block : row_.blocks) {
      bubble(block.start - block.idle, block.start);
      write(block);
    }
    bubble(row_.exchange_start + row_.exchange, row_.update_start);
    wait("gradients and weights of other copies", row_.exchange_start, row_.exchange);
    span("update", "update", row_.update_start, row_.update, kPasses);
    const Seconds end = row_.update_start + row_.update;
    if (prediction_.step_time.value - end > 1e-6 * prediction_.step_time.value)
      span("wait for the slowest GPU", "exchange", end, prediction_.step_time.value - end, kPasses);
  }

 private:
  static constexpr int kPasses = 0, kExposed = 1;

  void name(const char* what, int lane, const std::string& text) {
    events_.push_back({{"name", what}, {"ph", "M"}, {"pid", rank_}, {"tid", lane}, {"args", {{"name", text}}}});
  }
  void span(const std::string& name, std::string_view kind, Seconds start, Seconds time, int lane) {
    if (time <= Seconds(0.0)) return;
    events_.push_back({{"name", name},
                       {"cat", kind},
                       {"ph", "X"},
                       {"ts", microseconds(start)},
                       {"dur", microseconds(time)},
                       {"pid", rank_},
                       {"tid", lane}});
  }
  void bubble(Seconds from, Seconds to) {
    if (to - from > 1e-6 * prediction_.step_time.value) span("bubble", "bubble", from, to - from, kPasses);
  }
  void wait(const std::string& what, Seconds start, Seconds time) { span(what, "exchange", start, time, kExposed); }

  void write(const DrawnBlock& block) {
    const auto kind = static_cast<std::size_t>(block.kind);
    span(fmt::format("{}{}", kLetters[kind], block.micro_batch), kNames[kind], block.start, block.time, kPasses);
    events_.back()["args"] = {{"stage", block.stage}, {"micro_batch", block.micro_batch}};
    wait(fmt::format("in {}{}", kLetters[kind], block.micro_batch), block.start + block.time - block.exposed, block.exposed);
    events_.push_back({{"name", "memory"},
                       {"ph", "C"},
                       {"ts", microseconds(block.start)},
                       {"pid", rank_},
                       {"args", {{"bytes", static_cast<std::int64_t>(std::llround(block.held.base()))}}}});
  }

  const Prediction& prediction_;
  const DrawnRank& row_;
  int rank_;
  Json& events_;
};

}  // namespace

std::string_view letter(pipeline::BlockKind kind) { return kLetters[static_cast<std::size_t>(kind)]; }

std::string drawn_text(const StepDrawing& drawing) {
  if (drawing.drawn >= drawing.micro_batches)
    return fmt::format("{} micro-batch{}", drawing.micro_batches, drawing.micro_batches == 1 ? "" : "es");
  return fmt::format("the first {} and the last {} of {} micro-batches", (drawing.drawn + 1) / 2, drawing.drawn / 2,
                     drawing.micro_batches);
}

std::string pipeline_trace(const Prediction& prediction) {
  Json events = Json::array();
  for (int rank = 0; rank < static_cast<int>(prediction.detail.drawing.ranks.size()); ++rank)
    RankTrace(prediction, rank, events).write();
  const Json trace{
      {"displayTimeUnit", "ms"}, {"traceEvents", events}, {"otherData", {{"drawn", drawn_text(prediction.detail.drawing)}}}};
  return trace.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace tbdsim
