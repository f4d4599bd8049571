// A pass on three streams: what runs beside a collective, and how much longer it takes. The example is that of
// model/schedule/divided/README.md.
#include <vector>

#include "model/schedule/divided/pass_time.hpp"
#include "model/schedule/divided/sharded_pass.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

PassItem kernel(double milliseconds, bool memory_bound) {
  return {PassItem::Kind::kernel, Seconds(milliseconds * 1e-3), Seconds(0.0), Axis::tensor, {}, {}, memory_bound};
}

PassItem hidden(double milliseconds, Taken taken) {
  return {PassItem::Kind::hidden, Seconds(milliseconds * 1e-3), Seconds(0.0), Axis::tensor, {}, taken, false};
}

const PassItem kJoin{PassItem::Kind::join, Seconds(0.0), Seconds(0.0), Axis::tensor, {}, {}, false};

double milliseconds(const std::vector<PassItem>& items) { return 1e3 * pass_time(items).time.base(); }

}  // namespace

TEST_CASE("beside a call arithmetic lacks multiprocessors, and memory-bound kernels what is scarcer") {
  const Taken taken{0.1, 0.2};
  CHECK_THAT(milliseconds({hidden(2.0, taken), kernel(1.0, true), kJoin, kernel(1.0, true)}), WithinRel(3.0, 1e-12));
  CHECK_THAT(milliseconds({hidden(1.25, taken), kernel(1.0, true), kJoin}), WithinRel(1.25, 1e-12));
  CHECK_THAT(milliseconds({hidden(0.625, taken), kernel(1.0, true), kJoin}), WithinRel(0.625 + 0.5, 1e-12));
  CHECK_THAT(milliseconds({hidden(0.9, taken), kernel(0.9, false), kJoin}), WithinRel(0.9 + 0.09, 1e-12));
  const PassTime pass = pass_time(std::vector<PassItem>{kernel(1.0, true), kernel(3.0, false)});
  CHECK_THAT(pass.memory / pass.kernels, WithinRel(0.25, 1e-12));
  CHECK_THAT(lost_of_mix(taken, memory_share(pass)), WithinRel(0.25 * 0.2 + 0.75 * 0.1, 1e-12));
}

TEST_CASE("a call in pieces is waited for by what products leave of it, and takes its own time") {
  PassItem call{PassItem::Kind::collective, Seconds(2e-3), Seconds(0.0), Axis::tensor, {}, {}, false, Seconds(5e-3)};
  const auto of = [](Seconds each) { return each.base(); };
  constexpr auto kTensor = static_cast<std::size_t>(Axis::tensor);
  const PassTime pass = pass_time(std::vector<PassItem>{kernel(4.0, true), call, kernel(1.0, true)});
  CHECK_THAT(of(pass.time), WithinRel(7e-3, 1e-12));
  CHECK_THAT(of(pass.exchange[kTensor]), WithinRel(5e-3, 1e-12));
  CHECK_THAT(of(pass.exposed[kTensor]), WithinRel(2e-3, 1e-12));
  // All of it beside products.
  call.device = Seconds(0.0);
  const PassTime hides = pass_time(std::vector<PassItem>{kernel(4.0, true), call, kernel(1.0, true)});
  CHECK_THAT(of(hides.time), WithinRel(5e-3, 1e-12));
  CHECK_THAT(of(hides.exchange[kTensor]), WithinRel(5e-3, 1e-12));
  CHECK(of(hides.exposed[kTensor]) == 0.0);
}

TEST_CASE("a layer is gathered while the one before it runs, which takes longer by what the call takes of it") {
  const PassTime pass = pass_time(std::vector<PassItem>{kernel(4.0, true)});
  GroupCall gather;
  gather.time = Seconds(1e-3);
  gather.taken = {0.0, 0.5};
  const std::vector<ShardedLayer> layers(3, ShardedLayer{&pass, gather, {}});
  // The first call is waited for; two others run beside 4 ms of kernels, at half their rate: 0.5 ms longer each.
  CHECK_THAT(sharded_pass(layers).time.base(), WithinRel(1e-3 + 3 * 4e-3 + 2 * 0.5e-3, 1e-12));
}

TEST_CASE("kernels that copy gathered weights lengthen each layer, and hide calls as its own do") {
  const PassTime pass = pass_time(std::vector<PassItem>{kernel(4.0, true)});
  GroupCall gather;
  gather.time = Seconds(4.5e-3);
  ShardedLayer layer{&pass, gather, {}};
  layer.moves = Seconds(1e-3);
  const PassTime moved = sharded_pass(std::vector<ShardedLayer>(3, layer));
  CHECK_THAT(moved.time.base(), WithinRel(4.5e-3 + 3 * 5e-3, 1e-12));
  CHECK_THAT(moved.kernels.base(), WithinRel(3 * 5e-3, 1e-12));
}
