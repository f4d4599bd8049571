// Resident warps by CUDA's occupancy arithmetic, and what kernels wait for.
#include "model/cost/occupancy.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

/// 80 multiprocessors of 2,048 threads and 65,536 registers.
Device volta() {
  Device device;
  device.multiprocessors = 80;
  return device;
}

}  // namespace

TEST_CASE("a large product: two blocks of 256 threads with 122 registers fit, 16 of 64 warps") {
  // 65,536 / (256 x 122) = 2.1.
  CHECK_THAT(achieved_occupancy(KernelClass::tiled, 1e9, volta()), WithinRel(0.25, 1e-12));
  // On tensor cores one: 65,536 / (256 x 230) = 1.1.
  CHECK_THAT(achieved_occupancy(KernelClass::tensor_tiled, 1e9, volta()), WithinRel(0.125, 1e-12));
}

TEST_CASE("occupancy of a launch: the scarcest of registers, threads, shared memory, blocks") {
  CHECK_THAT(launch_occupancy({1e6, 256, 160, Bytes(0.0)}, volta()), WithinRel(256.0 / 2048.0, 1e-12));     // registers: 1 block
  CHECK_THAT(launch_occupancy({1e6, 512, 16, Bytes(0.0)}, volta()), WithinRel(1.0, 1e-12));                 // threads: 4 blocks
  CHECK_THAT(launch_occupancy({1e6, 128, 16, Bytes(40000.0)}, volta()), WithinRel(256.0 / 2048.0, 1e-12));  // shared: 2 blocks
  CHECK_THAT(launch_occupancy({1e6, 32, 16, Bytes(0.0)}, volta()), WithinRel(0.5, 1e-12));                  // 32 blocks
  CHECK_THAT(launch_occupancy({40, 512, 16, Bytes(0.0)}, volta()), WithinRel(0.25, 1e-12));                 // too few blocks
  CHECK_THAT(launch_occupancy({1e6, 33, 0, Bytes(0.0)}, volta()), WithinRel(1.0, 1e-12));  // 33 threads are two warps
}

TEST_CASE("a large stream of elements fills the device, a small one leaves one block a multiprocessor") {
  CHECK_THAT(achieved_occupancy(KernelClass::streaming, 1e9, volta()), WithinRel(1.0, 1e-12));
  CHECK_THAT(achieved_occupancy(KernelClass::streaming, 80 * 1024.0, volta()), WithinRel(256.0 / 2048.0, 1e-12));
  CHECK_THAT(achieved_occupancy(KernelClass::streaming, 1.0, volta()), WithinRel(256.0 / 2048.0, 1e-12));
}

TEST_CASE("more work never lowers occupancy of streams, and it stays within 0 and 1") {
  for (const KernelClass kind : {KernelClass::tiled, KernelClass::tensor_tiled, KernelClass::transform, KernelClass::recurrent,
                                 KernelClass::attention, KernelClass::streaming, KernelClass::reducing}) {
    for (double outputs = 1.0; outputs < 1e10; outputs *= 3.0) {
      const double occupancy = achieved_occupancy(kind, outputs, volta());
      CHECK(occupancy > 0.0);
      CHECK(occupancy <= 1.0);
    }
  }
  CHECK(achieved_occupancy(KernelClass::streaming, 1e6, volta()) <= achieved_occupancy(KernelClass::streaming, 1e7, volta()));
}

TEST_CASE("a multiprocessor with fewer threads is fuller") {
  Device turing = volta();
  turing.max_threads_per_multiprocessor = 1024;
  CHECK_THAT(achieved_occupancy(KernelClass::tiled, 1e9, turing), WithinRel(0.5, 1e-12));
}

TEST_CASE("stall shares are the parts of a kernel's time, what no term tells is its start and drain") {
  KernelTimeModel kernel;
  kernel.time = Seconds(10e-6);
  kernel.issue = {Seconds(4e-6), Seconds(1e-6), Seconds(2e-6), Seconds(1e-6)};
  const StallShares shares = stall_shares(kernel);
  const auto of = [&](Stall stall) { return shares[static_cast<std::size_t>(stall)]; };
  CHECK_THAT(of(Stall::pipe_busy), WithinRel(0.4, 1e-12));
  CHECK_THAT(of(Stall::execution_dependency), WithinRel(0.1, 1e-12));
  CHECK_THAT(of(Stall::memory_dependency), WithinRel(0.2, 1e-12));
  CHECK_THAT(of(Stall::synchronization), WithinRel(0.1, 1e-12));
  CHECK_THAT(of(Stall::instruction_fetch), WithinRel(0.2, 1e-12));
  CHECK(largest_stall(shares) == Stall::pipe_busy);
  CHECK(stall_shares(KernelTimeModel{}) == StallShares{});
  CHECK(name(Stall::instruction_fetch) == "instruction fetch");
}
