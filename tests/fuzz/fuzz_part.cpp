// Any bytes as the file of a part of a plan: what is read is written and read again with the same bytes, or refused with a
// reason.
#include "model/plan/part_file.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kJobs = 3;
  const auto part = plan::parse_part(fuzz::bytes(data, size), "fuzz.csv", kJobs);
  if (!part) {
    fuzz::require(!part.error().empty(), "a refused part has an error");
    fuzz::require_good(part.error());
    return 0;
  }
  fuzz::require(part->jobs.size() == kJobs && part->shard < part->shards, "a part of the plan that was asked for");
  const std::string text = plan::to_csv(*part);
  const auto again = plan::parse_part(text, "again.csv", kJobs);
  fuzz::require(again.has_value(), "what is written is read");
  fuzz::require(plan::to_csv(*again) == text, "a file read and written stays the same");
  return 0;
}
