// What holds of every pipeline, however unequal its ranks.
#include <algorithm>
#include <map>

#include "model/schedule/pipeline/in_flight.hpp"
#include "tests/catch.hpp"
#include "tests/schedule/pipeline_case.hpp"

using namespace tbdsim;
using namespace tbdsim::pipeline;

namespace {

constexpr std::uint32_t kSeed = 7;

/// A few shapes of every kind with random times.
template <class Visit>
void for_each_case(Visit visit) {
  std::mt19937 random(kSeed);
  for (const ScheduleInfo& each : schedules()) {
    for_each_shape(each.kind, 6, [&](PipelineShape shape) {
      const PipelineSchedule schedule = *generate(each.kind, shape);
      INFO(words(each.kind, shape) << ", seed " << kSeed);
      visit(schedule, random_times(schedule, random), random);
    });
  }
}

SimTime duration(const PipelineSchedule& schedule, const BlockTimes& times, std::int32_t rank, const Block& block) {
  const ChunkTime& time = times.places[static_cast<std::size_t>(rank * schedule.shape.chunks + block.chunk)];
  if (block.kind == BlockKind::forward) return time.forward;
  if (block.kind == BlockKind::weights) return time.weights;
  return block.whole ? time.backward + time.weights : time.backward;
}

}  // namespace

TEST_CASE("pipeline properties: no less than any rank's work or one micro-batch's way, busy and idle make the makespan") {
  for_each_case([](const PipelineSchedule& schedule, const BlockTimes& times, std::mt19937&) {
    const PipelineRun run = simulate(schedule, times);
    SimTime way;
    const std::vector<PlaceRoute> routes = place_routes(schedule);
    for (std::int32_t rank = 0; rank < schedule.shape.ranks; ++rank) {
      SimTime work;
      for (const Block& block : schedule.of_rank(rank)) {
        work += duration(schedule, times, rank, block);
        if (block.micro_batch != 0 || block.kind == BlockKind::weights) continue;
        way += duration(schedule, times, rank, block);
        const auto place = static_cast<std::size_t>(rank * schedule.shape.chunks + block.chunk);
        if (routes[place].behind >= 0 && routes[place].behind != rank) way += times.places[place].hop;
      }
      REQUIRE(run.busy[static_cast<std::size_t>(rank)] == work);
      REQUIRE(run.busy[static_cast<std::size_t>(rank)] + run.idle[static_cast<std::size_t>(rank)] == run.makespan);
    }
    REQUIRE(run.makespan >= way);
    REQUIRE(run.makespan == *std::max_element(run.finished.begin(), run.finished.end()));
  });
}

TEST_CASE("pipeline properties: a longer block or hop, or one that blocks, never shortens the step") {
  for_each_case([](const PipelineSchedule& schedule, const BlockTimes& times, std::mt19937& random) {
    const SimTime before = simulate(schedule, times).makespan;
    BlockTimes blocking = times;
    blocking.transfer = Transfer::blocking;
    const SimTime blocked = simulate(schedule, blocking).makespan;
    REQUIRE(blocked >= before);
    for (SimTime ChunkTime::*part : {&ChunkTime::forward, &ChunkTime::backward, &ChunkTime::weights, &ChunkTime::hop}) {
      BlockTimes longer = times;
      longer.places[random() % longer.places.size()].*part += SimTime{100'000'000'000};
      REQUIRE(simulate(schedule, longer).makespan >= before);
      longer.transfer = Transfer::blocking;
      REQUIRE(simulate(schedule, longer).makespan >= blocked);
    }
  });
}

TEST_CASE("pipeline properties: without hops it is all the same whether transfers block") {
  for_each_case([](const PipelineSchedule& schedule, BlockTimes times, std::mt19937&) {
    for (ChunkTime& place : times.places) place.hop = {};
    const SimTime overlapped = simulate(schedule, times).makespan;
    times.transfer = Transfer::blocking;
    REQUIRE(simulate(schedule, times).makespan == overlapped);
  });
}

TEST_CASE("pipeline properties: blocks start after what they need, and a rank runs one at a time") {
  for_each_case([](const PipelineSchedule& schedule, const BlockTimes& times, std::mt19937&) {
    const PipelineRun run = simulate(schedule, times, Spans::all);
    std::map<std::array<std::int32_t, 3>, SimTime> ends;  // kind, micro-batch, stage
    const auto key = [&](const Block& block, std::int32_t stage) {
      return std::array<std::int32_t, 3>{static_cast<std::int32_t>(block.kind), block.micro_batch, stage};
    };
    const auto each = [&](auto visit) {
      for (std::int32_t rank = 0; rank < schedule.shape.ranks; ++rank)
        for (std::int32_t i = schedule.offsets[static_cast<std::size_t>(rank)];
             i < schedule.offsets[static_cast<std::size_t>(rank) + 1]; ++i) {
          const Block& block = schedule.blocks[static_cast<std::size_t>(i)];
          visit(rank, static_cast<std::size_t>(i), block, schedule.stage_of({rank, block.chunk}));
        }
    };
    each(
        [&](std::int32_t, std::size_t i, const Block& block, std::int32_t stage) { ends[key(block, stage)] = run.spans[i].end; });
    each([&](std::int32_t rank, std::size_t i, const Block& block, std::int32_t stage) {
      const bool first = static_cast<std::int32_t>(i) == schedule.offsets[static_cast<std::size_t>(rank)];
      if (!first && !schedule.blocks[i - 1].joined) REQUIRE(run.spans[i].start >= run.spans[i - 1].end);
      const std::int32_t needed = block.kind == BlockKind::forward ? stage - 1 : stage + 1;
      if (block.kind != BlockKind::weights && needed >= 0 && needed < schedule.stages())
        REQUIRE(run.spans[i].start >= ends.at(key(block, needed)));
    });
  });
}

TEST_CASE("pipeline properties: what a joined pair saves shortens it, and both blocks span it") {
  PipelineSchedule schedule = *generate(ScheduleKind::dualpipe, {4, 8, 2});
  BlockTimes times = equal_times(schedule, whole_seconds(2, 2, 2));
  const SimTime before = simulate(schedule, times).makespan;
  times.saved.assign(4, SimTime::from(Seconds(1)));
  const PipelineRun run = simulate(schedule, times, Spans::all);
  CHECK(run.makespan < before);
  const auto pair = static_cast<std::size_t>(
      std::find_if(schedule.blocks.begin(), schedule.blocks.end(), [](const Block& block) { return block.joined; }) -
      schedule.blocks.begin());
  CHECK(run.spans[pair].start == run.spans[pair + 1].start);
  CHECK(run.spans[pair].end - run.spans[pair].start == SimTime::from(Seconds(2 + 4 - 1)));
}

TEST_CASE("pipeline properties: blocking transfers hold both ends") {
  // Two ranks, one micro-batch: F 1, hop 1 to rank 1, F 1, B+W 2, hop 1 back, B+W 2.
  const PipelineSchedule one = *generate(ScheduleKind::one_f_one_b, {2, 1, 1});
  BlockTimes times = equal_times(one, whole_seconds(1, 1, 1, 1));
  CHECK(simulate(one, times).makespan == SimTime::from(Seconds(8)));
  times.transfer = Transfer::blocking;
  CHECK(simulate(one, times).makespan == SimTime::from(Seconds(8)));
  // GPipe with two: the sender runs F1 from 2, after its send; overlapped from 1.
  const PipelineSchedule two = *generate(ScheduleKind::gpipe, {2, 2, 1});
  CHECK(simulate(two, times, Spans::all).spans[1].start == SimTime::from(Seconds(2)));
  times.transfer = Transfer::overlapped;
  CHECK(simulate(two, times, Spans::all).spans[1].start == SimTime::from(Seconds(1)));
}

TEST_CASE("pipeline properties: activations come and go, and nothing is left") {
  for_each_case([](const PipelineSchedule& schedule, const BlockTimes&, std::mt19937&) {
    const std::vector<ChunkActivations> chunks(static_cast<std::size_t>(schedule.shape.chunks), {Bytes(8.0), Bytes(4.0)});
    for (std::int32_t rank = 0; rank < schedule.shape.ranks; ++rank) {
      const std::vector<Bytes> held = activations(schedule, rank, chunks);
      const Block& last = schedule.of_rank(rank).back();
      REQUIRE(held.front() == Bytes(8.0));
      REQUIRE(held.back() == Bytes(last.kind == BlockKind::weights ? 4.0 : 8.0));  // while its last block runs
      REQUIRE(std::max_element(held.begin(), held.end())->base() == 8.0 * peak_in_flight(schedule, rank, 0.5));
    }
  });
}
