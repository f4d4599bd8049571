// Schedules from files: the round trip, and what is told of files that cannot be run.
#include "model/schedule/pipeline/schedule_file.hpp"

#include "model/schedule/pipeline/check_schedule.hpp"
#include "tests/catch.hpp"
#include "tests/schedule/pipeline_case.hpp"

using namespace tbdsim;
using namespace tbdsim::pipeline;

namespace {

bool same(const PipelineSchedule& a, const PipelineSchedule& b) {
  const auto equal = [](const Block& x, const Block& y) {
    return text(x) == text(y) && x.joined == y.joined && x.whole == y.whole;
  };
  return a.shape == b.shape && a.placement == b.placement && a.offsets == b.offsets &&
         std::equal(a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(), equal);
}

/// The messages of a file, without the lines they show.
std::vector<std::string> messages(const std::string& toml) {
  std::vector<std::string> result;
  const auto schedule = parse_schedule_file(toml, "mine.toml");
  if (schedule) return result;
  for (const Error& error : schedule.error())
    result.push_back(fmt::format("{}:{}:{}: {}", error.where.file, error.where.line, error.where.column, error.message));
  return result;
}

/// A file of two ranks with two micro-batches; lines 4 and 6 hold the blocks.
std::string two_ranks(const std::string& first, const std::string& second) {
  return "schema = 1\nmicro_batches = 2\n[[rank]]\nblocks = \"" + first + "\"\n[[rank]]\nblocks = \"" + second + "\"\n";
}

using Messages = std::vector<std::string>;

}  // namespace

TEST_CASE("schedule files: every generated table comes back as it was written") {
  for (const ScheduleInfo& each : schedules()) {
    for_each_shape(each.kind, 4, [&](PipelineShape shape) {
      INFO(words(each.kind, shape));
      const PipelineSchedule schedule = *generate(each.kind, shape);
      const auto read = parse_schedule_file(to_toml(schedule), "mine.toml");
      REQUIRE(read);
      REQUIRE(same(*read, schedule));
    });
  }
}

TEST_CASE("schedule files: placement, chunk and line ends may be left to their defaults") {
  const auto read = parse_schedule_file(
      "schema = 1\nmicro_batches = 2\nsource = \"paper: 1f1b\"\n[[rank]]\nblocks = \"F0 F1 B0 B1\"\n[[rank]]\nblocks = "
      "\"\"\"F0 B0\n  F1 B1\"\"\"\n",
      "mine.toml");
  REQUIRE(read);
  CHECK(same(*read, *generate(ScheduleKind::one_f_one_b, {2, 2, 1})));
  CHECK(simulate(*read, equal_times(*read, whole_seconds(1, 1, 1))).makespan == SimTime::from(Seconds(9)));
  CHECK(!mismatch(*read, {2, 2, 1}));
  CHECK(mismatch(*read, {4, 2, 1}) == "the schedule has 2 ranks, the job 4");
  CHECK(mismatch(*read, {2, 8, 1}) == "the schedule has 2 micro-batches, the job 8");
  CHECK(mismatch(*read, {2, 2, 2}) == "the schedule has 1 chunks a rank, the job 2");
  CHECK(!read_schedule_file("no/such/schedule.toml"));
}

TEST_CASE("schedule files: words that are no blocks") {
  for (const char* word : {"X0", "F", "F-1", "F0.", "F0.x", "F0.300", "f0", "F99999999999", "+F0", "F0++B1"}) {
    INFO(word);
    const Messages told = messages(two_ranks(std::string(word) + " F1 B0 B1", "F0 B0 F1 B1"));
    REQUIRE(!told.empty());
    CHECK(told.front().find("expected F, B or W with a micro-batch and a chunk, such as \"F3.1\", got \"" + std::string(word) +
                            "\"") != std::string::npos);
  }
  CHECK(messages(two_ranks("F0 F1 B0 G1", "F0 B0 F1 B1")) ==
        Messages{
            "mine.toml:4:10: rank[0].blocks: block 4: expected F, B or W with a micro-batch and a chunk, such as \"F3.1\", got "
            "\"G1\""});
}

TEST_CASE("schedule files: numbers out of range, blocks twice, missing or too early") {
  CHECK(messages(two_ranks("F0 F1 B0 B2", "F0.1 B0 F1 B1")) ==
        Messages{"mine.toml:4:10: rank[0].blocks: block 4, B2.0: micro-batch 2 of 2; they count from 0",
                 "mine.toml:6:10: rank[1].blocks: block 1, F0.1: chunk 1 of 1; they count from 0"});
  CHECK(messages(two_ranks("F0 F1 B0 B1 F1", "F0 B0 F1")) ==
        Messages{"mine.toml:4:10: rank[0].blocks: block 5, F1.0: stands here a second time, first as block 2",
                 "mine.toml:6:10: rank[1].blocks: B1.0 is missing"});
  CHECK(messages(two_ranks("F0 B1 F1 B0", "F0 W0 B0 F1 B1")) ==
        Messages{"mine.toml:4:10: rank[0].blocks: block 2, B1.0: stands before its F1.0",
                 "mine.toml:6:10: rank[1].blocks: block 2, W0.0: stands before its B0.0"});
  CHECK(messages("schema = 1\nmicro_batches = 100\n[[rank]]\nblocks = \"F0\"\n") ==
        Messages{"mine.toml:4:10: rank[0].blocks: 1 block; expected at least 200, an F and a B of every micro-batch and chunk"});
}

TEST_CASE("schedule files: joined blocks are a forward and a backward of different micro-batches") {
  CHECK(messages(two_ranks("F0 F1 B0 B1", "F0 F1+B0 B1")).empty());
  for (const char* list : {"F0+F1 B0 B1", "F0+B0 F1 B1", "F0 F1 B0+B1"}) {
    INFO(list);
    const Messages told = messages(two_ranks("F0 F1 B0 B1", list));
    REQUIRE(told.size() == 1);
    CHECK(told.front().find("is joined with the next block; expected an F joined with a B of another micro-batch") !=
          std::string::npos);
  }
}

TEST_CASE("schedule files: ranks that wait for each other") {
  CHECK(messages(two_ranks("F0 B0 F1 B1", "F0 F1 B0 B1")) ==
        Messages{"mine.toml:4:10: rank[0].blocks: ranks wait for each other: block 2, B0.0 on rank 0 waits for B0.0 on rank 1, "
                 "block 2, F1.0 on rank 1 waits for F1.0 on rank 0"});
  // A circle within one rank: under vee its chunk 1 reads what its chunk 0 makes.
  CHECK(
      messages("schema = 1\nplacement = \"vee\"\nmicro_batches = 1\nchunks = 2\n[[rank]]\nblocks = \"F0.1 F0.0 B0.1 B0.0\"\n") ==
      Messages{"mine.toml:6:10: rank[0].blocks: ranks wait for each other: block 1, F0.1 on rank 0 waits for F0.0 on rank 0"});
}

TEST_CASE("schedule files: keys that are wrong or missing") {
  CHECK(messages("schema = 1\nmicro_batches = 2\n") ==
        Messages{"mine.toml:1:1: no [[rank]]; expected one for each rank of the pipeline"});
  CHECK(messages("schema = 1\nplacement = \"ve\"\nmicro_batches = 1\nchunk = 1\n[[rank]]\nblocks = \"F0 B0\"\n") ==
        Messages{"mine.toml:2:13: placement: no placement \"ve\", did you mean \"vee\"?",
                 "mine.toml:4:1: chunk: unknown key, did you mean \"chunks\"?"});
  CHECK(messages("schema = 1\nplacement = \"two-way\"\nmicro_batches = 3\n[[rank]]\nblocks = \"F0 B0\"\n") ==
        Messages{"mine.toml:1:1: chunks: expected 2 under \"two-way\", one of each direction",
                 "mine.toml:3:17: micro_batches: expected an even number under \"two-way\", got 3"});
  CHECK(
      messages(
          "schema = 1\nplacement = \"two-way\"\nmicro_batches = 2\nchunks = 2\n[[rank]]\nblocks = \"F0.1 B0.0 F1.1 B1.1\"\n") ==
      Messages{"mine.toml:6:10: rank[0].blocks: block 1, F0.1: micro-batch 0 goes through chunk 0; under two-way the first half "
               "takes chunk 0"});
}

TEST_CASE("schedule files: the first problems are told, and how many more there are") {
  PipelineSchedule schedule = *generate(ScheduleKind::gpipe, {1, 30, 1});
  for (Block& block : schedule.blocks) block.chunk = 1;
  const auto found = problems(schedule);
  REQUIRE(found.size() == kMostProblems);
  CHECK(found.back().message == "block 20, F19.1: chunk 1 of 1; they count from 0; and 40 more problems");
}
