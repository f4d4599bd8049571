// No rate of a description, raised, makes the kernels of a step slower: every GPU of the catalogue, under its own name and as a
// copy under another, which borrows its efficiencies.
#include <cmath>

#include "tests/catch.hpp"
#include "tests/property/step_kernels.hpp"

using namespace tbdsim;
using property::kernels_of;
using property::Work;

namespace {

void scale_peaks(Device& d, double by) {
  d.peak.fp32 *= by;
  for (auto* rate : {&d.peak.fp32_tensor, &d.peak.tf32_tensor, &d.peak.fp16_tensor, &d.peak.bf16_tensor, &d.peak.fp8_tensor})
    if (*rate) **rate *= by;
}

// Datasheets round: where peak rates and clocks disagree by some 1e-4, so does the clock that a change is taken to mean.
constexpr double kRounded = 1.0 + 5e-4;
// A copy with other lanes or multiprocessors is no longer the very chip whose samples count threefold among its relatives, so its
// shares of peak and bandwidth are other boards' too, by up to 2.3 % here.
constexpr double kOtherChip = 1.03;

// A listed clock or peak that rises under the same power limit leaves attention and tf32 products less of it, by up to 0.8 %
// here: the share of peak that other boards lend is a share of the clock that they keep.
constexpr double kKeptClock = 1.01;

struct Change {
  const char* name;
  double tolerance;
  void (*apply)(Device& device, double by);
};
constexpr Change kChanges[]{
    {"clocks and peaks", kRounded,
     [](Device& d, double by) {
       if (d.boost_clock) *d.boost_clock *= by;
       if (d.sustained_clock) *d.sustained_clock *= by;
       scale_peaks(d, by);
     }},
    {"lanes and their peak", kOtherChip,
     [](Device& d, double by) {
       const int lanes = static_cast<int>(std::lround(d.fp32_lanes * by));
       d.peak.fp32 *= static_cast<double>(lanes) / d.fp32_lanes;
       d.fp32_lanes = lanes;
     }},
    // Lanes that the peak rate does not count do no work. The datasheets of B200 and GB200 list more than their lanes reach at
    // the boost clock, so the peak counts some of the added lanes. Schedulers do not feed these.
    {"lanes", kOtherChip,
     [](Device& d, double by) {
       constexpr double kListed = 1.01;
       const double reach = 2.0 * d.multiprocessors * d.fp32_lanes * d.boost_clock.value().base();
       if (d.vendor == Vendor::nvidia && d.peak.fp32.base() > kListed * reach) return;
       d.fp32_lanes = static_cast<int>(std::lround(d.fp32_lanes * by));
     }},
    // Cache and power limit grow with the multiprocessors, as in any family of chips. A GPU is really slower without: more rows
    // of a softmax in work at a time no longer fit the cache and are read again, and under the same limit every multiprocessor
    // keeps less of its clock, which kernels of few blocks feel.
    {"multiprocessors, peaks, cache and power", kOtherChip,
     [](Device& d, double by) {
       const int all = static_cast<int>(std::lround(d.multiprocessors * by));
       const double grown = static_cast<double>(all) / d.multiprocessors;
       scale_peaks(d, grown);
       if (d.l2_capacity) *d.l2_capacity *= grown;
       if (d.power_limit) *d.power_limit *= grown;
       d.multiprocessors = all;
     }},
    {"every peak", kRounded, scale_peaks},
    {"fp32 peak", kRounded, [](Device& d, double by) { d.peak.fp32 *= by; }},
    {"fp16 peak", kKeptClock,
     [](Device& d, double by) {
       if (d.peak.fp16_tensor) *d.peak.fp16_tensor *= by;
     }},
    {"tf32 peak", kRounded,
     [](Device& d, double by) {
       if (d.peak.tf32_tensor) *d.peak.tf32_tensor *= by;
     }},
    {"bf16 peak", kRounded,
     [](Device& d, double by) {
       if (d.peak.bf16_tensor) *d.peak.bf16_tensor *= by;
     }},
    {"fp32 tensor peak", kRounded,
     [](Device& d, double by) {
       if (d.peak.fp32_tensor) *d.peak.fp32_tensor *= by;
     }},
    {"boost clock", kKeptClock,
     [](Device& d, double by) {
       if (d.boost_clock) *d.boost_clock *= by;
     }},
    {"memory bandwidth", kRounded, [](Device& d, double by) { d.memory_bandwidth *= by; }},
    {"cache", kRounded,
     [](Device& d, double by) {
       if (d.l2_capacity) *d.l2_capacity *= by;
     }},
    {"power limit", kRounded,
     [](Device& d, double by) {
       if (d.power_limit) *d.power_limit *= by;
     }},
};

const std::vector<Work>& works() {
  static const std::vector<Work> kWorks{property::work("resnet50", "torchvision", 16), property::work("gpt2", "", 2),
                                        property::work("deep_speech_2", "pytorch", 8)};
  return kWorks;
}

void never_slower(const Device& device, const Stack& stack, std::initializer_list<double> factors) {
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16, Precision::amp}) {
    if (!KernelModel::make(device, precision, stack, property::constants())) continue;
    for (const Work& work : works()) {
      const Seconds before = kernels_of(device, precision, stack, work);
      for (const Change& change : kChanges) {
        Seconds last = before;
        for (const double by : factors) {
          Device faster = device;
          change.apply(faster, by);
          const Seconds here = kernels_of(faster, precision, stack, work);
          INFO(device.id << " " << name(precision) << " " << work.name << ": " << change.name << " x " << by << ": "
                         << last.base() << " s, then " << here.base() << " s");
          CHECK(here <= last * change.tolerance);
          last = here;
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("lanes beyond those that schedulers feed have no effect, with their peak: every GPU, by its name and as a copy") {
  constexpr double kMostFed = 128.0;
  for (const std::string& id : catalogue_ids({TBDSIM_SOURCE_DIR}, "gpus")) {
    Device device = load_device({TBDSIM_SOURCE_DIR}, id).value();
    if (device.fp32_lanes != kMostFed) continue;
    const Stack stack = property::stack("pytorch-2.1");
    for (const std::string& name : {id, "copy-of-" + id}) {
      device.id = name;
      const Seconds before = kernels_of(device, Precision::fp32, stack, works().front());
      for (const double by : {1.5, 2.0, 4.0, 16.0}) {
        Device wider = device;
        wider.fp32_lanes = static_cast<int>(std::lround(by * kMostFed));
        wider.peak.fp32 *= by;
        INFO(name << ": " << by << " times the lanes and peak");
        CHECK_THAT(kernels_of(wider, Precision::fp32, stack, works().front()) / before, WithinRel(1.0, 5e-3));
      }
    }
  }
}

TEST_CASE("no rate of a description, raised, slows a step: every GPU, by its name and as a copy") {
  for (const std::string& id : catalogue_ids({TBDSIM_SOURCE_DIR}, "gpus")) {
    Device device = load_device({TBDSIM_SOURCE_DIR}, id).value();
    const Stack stack = property::stack(device.vendor == Vendor::amd ? "pytorch-2.4-rocm" : "pytorch-2.1");
    never_slower(device, stack, {1.5, 16.0});
    device.id = "copy-of-" + id;
    never_slower(device, stack, {4.0});
  }
}
