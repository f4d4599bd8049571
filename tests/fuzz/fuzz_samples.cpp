// Any bytes as a sample file. What is accepted must be usable by a fit: every key of the family, a time above zero.
#include "calibrate/decode/sample_table.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

namespace {

void require_usable(const Sample& sample) {
  const SampleFamily* const family = find_family(sample.family);
  fuzz::require(family != nullptr, "a family is known");
  fuzz::require(sample.time > Seconds(0.0), "a time is above zero");
  fuzz::require(sample.line > 1, "a sample has a line below the header");
  for (const ShapeKey& key : family->keys) {
    if (key.kind == KeyKind::text)
      fuzz::require(!sample.kind.empty(), "a kind is named");
    else
      fuzz::require(sample.at(key.name) >= (key.kind == KeyKind::size ? 1.0 : 0.0), "a size is at least 1");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto samples = parse_samples(fuzz::bytes(data, size), "fuzz.csv");
  if (samples) {
    fuzz::require(!samples->empty(), "an accepted file has a sample");
    for (const Sample& sample : *samples) require_usable(sample);
    return 0;
  }
  fuzz::require(!samples.error().empty(), "a refused file has an error");
  fuzz::require_good(samples.error());
  return 0;
}
