// Pipeline schedules: the table of kinds, what each demands, and that every generated table runs.
#include <set>

#include "model/schedule/pipeline/check_schedule.hpp"
#include "tests/catch.hpp"
#include "tests/schedule/pipeline_case.hpp"

using namespace tbdsim;
using namespace tbdsim::pipeline;

namespace {

std::string row(const PipelineSchedule& schedule, std::int32_t rank) {
  std::string line;
  std::string_view between = "";
  for (const Block& block : schedule.of_rank(rank)) {
    line += between;
    line += text(block);
    between = block.joined ? "+" : " ";
  }
  return line;
}

std::string demand(ScheduleKind kind, PipelineShape shape) { return unmet_demand(kind, shape).value_or("none"); }

}  // namespace

TEST_CASE("pipeline schedules: every kind has a name, and its word finds it") {
  std::set<std::string_view> names;
  for (const ScheduleInfo& each : schedules()) {
    INFO(each.name);
    CHECK(names.insert(each.name).second);
    CHECK(&info(each.kind) == &each);
    CHECK(parse_schedule(each.name) == each.kind);
    CHECK((each.placement == Placement::round_robin || each.chunks == 2));
    CHECK(each.source.starts_with("arXiv:"));
  }
  CHECK(parse_schedule("ZB_H1") == ScheduleKind::zb_h1);
  CHECK(parse_schedule("DualPipe") == ScheduleKind::dualpipe);
  CHECK(!parse_schedule("2f2b"));
}

TEST_CASE("pipeline schedules: a demand that is not met is told with what would work") {
  using Kind = ScheduleKind;
  CHECK(demand(Kind::one_f_one_b, {0, 4, 1}) == "1f1b: 0 ranks; expected at least 1");
  CHECK(demand(Kind::gpipe, {4, 0, 1}) == "gpipe: 0 micro-batches; expected at least 1");
  CHECK(demand(Kind::one_f_one_b, {4, 8, 2}) == "1f1b: 2 chunks a rank; expected 1");
  CHECK(demand(Kind::interleaved, {4, 8, 0}) == "interleaved: 0 chunks a rank; expected 1 to 255");
  CHECK(demand(Kind::interleaved, {4, 10, 2}) ==
        "interleaved: 10 micro-batches on 4 ranks; expected a multiple of 4, such as 8 or 12");
  CHECK(demand(Kind::interleaved, {4, 1, 2}) == "interleaved: 1 micro-batch on 4 ranks; expected a multiple of 4, such as 4");
  CHECK(demand(Kind::interleaved, {4, 4, 2}) == "none");
  CHECK(demand(Kind::zb_v, {4, 8, 1}) == "zb-v: 1 chunk a rank; expected 2");
  CHECK(demand(Kind::dualpipe, {3, 8, 2}) == "dualpipe: 3 ranks; expected an even number, such as 2 or 4");
  CHECK(demand(Kind::dualpipe, {1, 8, 2}) == "dualpipe: 1 rank; expected an even number, such as 2");
  CHECK(demand(Kind::dualpipe, {4, 7, 2}) ==
        "dualpipe: 7 micro-batches on 4 ranks; expected an even number of at least 8, such as 8");
  CHECK(demand(Kind::dualpipe, {4, 9, 2}) ==
        "dualpipe: 9 micro-batches on 4 ranks; expected an even number of at least 8, such as 10");
  CHECK(demand(Kind::dualpipe, {4, 8, 2}) == "none");
  CHECK(demand(Kind::gpipe, {16'667, 1'000, 1}) ==
        "gpipe: 16667 ranks and 1000 micro-batches of 1 chunk make more than 50000000 blocks");
  CHECK(demand(Kind::gpipe, {16'666, 1'000, 1}) == "none");
  CHECK(generate(Kind::zb_v, {4, 8, 1}).error().front().message == "zb-v: 1 chunk a rank; expected 2");
}

TEST_CASE("pipeline schedules: every generated table is complete and comes to its end") {
  for (const ScheduleInfo& each : schedules()) {
    for_each_shape(each.kind, 12, [&](PipelineShape shape) {
      const auto schedule = generate(each.kind, shape);
      REQUIRE(schedule);
      const auto found = problems(*schedule);
      INFO(words(each.kind, shape) << (found.empty() ? "" : ": " + found.front().message));
      REQUIRE(found.empty());
    });
  }
}

TEST_CASE("pipeline schedules: stages and places are each other's inverse") {
  for (const ScheduleInfo& each : schedules()) {
    for_each_shape(each.kind, 6, [&](PipelineShape shape) {
      const PipelineSchedule schedule{shape, each.placement, {}, {}};
      for (std::int32_t direction = 0; direction < (each.placement == Placement::two_way ? 2 : 1); ++direction)
        for (std::int32_t stage = 0; stage < schedule.stages(); ++stage)
          REQUIRE(schedule.stage_of(schedule.place_of(stage, direction)) == stage);
    });
  }
  const PipelineSchedule vee{{4, 8, 2}, Placement::vee, {}, {}};
  CHECK(vee.stage_of({0, 1}) == 7);
  CHECK(vee.stage_of({3, 1}) == 4);
  const PipelineSchedule two_way{{4, 8, 2}, Placement::two_way, {}, {}};
  CHECK(two_way.stages() == 4);
  CHECK(two_way.stage_of({0, 1}) == 3);
}

TEST_CASE("pipeline schedules: tables as their sources draw them") {
  // arXiv:2104.04473, figure 4, second device of four.
  CHECK(row(*generate(ScheduleKind::one_f_one_b, {4, 4, 1}), 1) == "F0.0 F1.0 F2.0 B0.0 F3.0 B1.0 B2.0 B3.0");
  // The same figure's lower half, last of two devices with two chunks.
  CHECK(row(*generate(ScheduleKind::interleaved, {2, 4, 2}), 1) ==
        "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0");
  // arXiv:2401.10241, figure 2: rank 1 runs W one micro-batch late.
  CHECK(row(*generate(ScheduleKind::zb_h1, {2, 3, 1}), 1) == "F0.0 B0.0 F1.0 B1.0 W0.0 F2.0 B2.0 W1.0 W2.0");
  // PyTorch's ScheduleZBVZeroBubble for two ranks.
  CHECK(row(*generate(ScheduleKind::zb_v, {2, 3, 2}), 0) ==
        "F0.0 F1.0 F2.0 F0.1 B0.1 W0.1 F1.1 B1.1 W1.1 B0.0 W0.0 F2.1 B2.1 W2.1 B1.0 W1.0 B2.0 W2.0");
  CHECK(row(*generate(ScheduleKind::zb_v, {2, 3, 2}), 1) ==
        "F0.0 F0.1 F1.0 F1.1 B0.1 W0.1 F2.0 B0.0 W0.0 F2.1 B1.1 W1.1 B1.0 B2.1 B2.0 W1.0 W2.1 W2.0");
  // deepseek-ai/DualPipe for four ranks, micro-batches 4 to 7 in the other direction.
  const PipelineSchedule dualpipe = *generate(ScheduleKind::dualpipe, {4, 8, 2});
  CHECK(row(dualpipe, 0) == "F0.0 F1.0 F2.0 F4.1 B4.1 W4.1 F5.1 F3.0+B5.1 F6.1+B0.0 B6.1 F7.1+B1.0 B7.1 B2.0 W2.0 B3.0 W3.0");
  CHECK(row(dualpipe, 1) == "F0.0 F4.1 F1.0 F5.1 F2.0 B4.1 F6.1+B0.0 F3.0+B5.1 F7.1+B1.0 B6.1 B2.0 B7.1 B3.0 W7.1 W3.0");
}

TEST_CASE("pipeline schedules: a backward without a weights block computes both gradients") {
  const PipelineSchedule dualpipe = *generate(ScheduleKind::dualpipe, {4, 8, 2});
  for (const Block& block : dualpipe.of_rank(0)) {
    INFO(text(block));
    const bool split = block.micro_batch == 4 || block.micro_batch == 2 || block.micro_batch == 3;
    CHECK(block.whole == (block.kind == BlockKind::backward && !split));
  }
  const PipelineSchedule zb_v = *generate(ScheduleKind::zb_v, {4, 8, 2});
  for (const Block& block : zb_v.blocks) CHECK(!block.whole);
  const PipelineSchedule gpipe = *generate(ScheduleKind::gpipe, {4, 8, 1});
  for (const Block& block : gpipe.blocks) CHECK(block.whole == (block.kind == BlockKind::backward));
}
