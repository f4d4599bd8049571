// Buckets of variable-length samples: they hold everything once, and padding only adds.
#include "model/workload/zoo/length_distribution.hpp"

#include <numeric>

#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("buckets: shares sum to 1, lengths rise, padding never shortens") {
  for (const LengthDistribution& d : length_distributions()) {
    INFO(d.model);
    CHECK(find_network(d.model, "").has_value());
    CHECK(!d.source.empty());
    double sum = 0.0, padded = 0.0;
    int last = 0;
    for (const LengthBucket& bucket : buckets(d)) {
      CHECK(bucket.length > last);
      CHECK(bucket.share >= 0.0);
      last = bucket.length;
      sum += bucket.share;
      padded += bucket.share * bucket.length;
    }
    CHECK_THAT(sum, WithinRel(1.0, 1e-12));
    CHECK(last == d.longest);
    CHECK(mean_length(d) < padded);
    CHECK(padded < mean_length(d) + d.width + d.shortest);
  }
}

TEST_CASE("a log-normal of which half lies below its median") {
  // sigma^2 = ln 2: the median is mean / sqrt(2).
  const LengthDistribution d{"", 100.0 * 1.4142135623730951, 100.0 * 1.4142135623730951, 100, 100, 1'000'000, ""};
  CHECK_THAT(buckets(d).front().share, WithinRel(0.5, 1e-6));
  CHECK_THAT(mean_length(d), WithinRel(141.42135623730951, 1e-6));
}

TEST_CASE("networks whose samples are all alike have no distribution") {
  CHECK(lengths_of("resnet50") == nullptr);
  CHECK(lengths_of("sockeye") != nullptr);
}
