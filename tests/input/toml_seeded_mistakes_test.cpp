// Eleven mistakes in one file give eleven messages, in the order of the file.
#include <limits>
#include <string>

#include "model/input/toml_reader.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

constexpr const char* kText = R"(schema = 2
nmae = "dgx1"
gpus = 8.0

[device.v100]
peak_fp32 = 15.7
memory_bandwidth = "900 GB"
memory_capacity = "16 GYB"
clock = "-1530 MHz"
power = 300_000 # W?

[link.nvlink]
latancy = "1.9 us"
efficiency = 1.2
duplex = "yes"
)";

constexpr const char* kMessages = R"(hw.toml:1:10: schema: expected 1, got 2
   1 | schema = 2
     |          ^
hw.toml:2:1: nmae: unknown key, did you mean "name"?
hw.toml:3:8: gpus: expected a whole number of at least 1, got 8.0 (a decimal number)
   3 | gpus = 8.0
     |        ^~~
hw.toml:6:13: device.v100.peak_fp32: expected a FLOP rate such as "15.7 TFLOP/s", got 15.7 (a bare number; write it as a string with its unit)
   6 | peak_fp32 = 15.7
     |             ^~~~
hw.toml:7:20: device.v100.memory_bandwidth: expected a bandwidth such as "25 GB/s", got "900 GB" (a size)
   7 | memory_bandwidth = "900 GB"
     |                    ^~~~~~~~
hw.toml:8:19: device.v100.memory_capacity: expected a size such as "16 GiB", got "16 GYB" (unknown unit "GYB", did you mean "GB"?)
   8 | memory_capacity = "16 GYB"
     |                   ^~~~~~~~
hw.toml:9:9: device.v100.clock: expected a frequency above 0, got "-1530 MHz"
   9 | clock = "-1530 MHz"
     |         ^~~~~~~~~~~
hw.toml:10:9: device.v100.power: expected a power such as "300 W", got 300_000 (a bare number; write it as a string with its unit)
  10 | power = 300_000 # W?
     |         ^~~~~~~
hw.toml:13:1: link.nvlink.latancy: unknown key, did you mean "latency"?
hw.toml:14:14: link.nvlink.efficiency: expected a number above 0 and at most 1, got 1.2
  14 | efficiency = 1.2
     |              ^~~
hw.toml:15:10: link.nvlink.duplex: expected true or false, got "yes" (a string)
  15 | duplex = "yes"
     |          ^~~~~
)";

void read(TomlTable root) {
  (void)root.integer("schema", 1, 1);
  (void)root.integer("gpus", 1, std::numeric_limits<std::int64_t>::max());
  for (auto& [name, link] : root.table("link").named_tables()) {
    (void)link.boolean_or("duplex", true);
    (void)link.number("efficiency", Bounds{0.0, 1.0, true});
    (void)link.quantity<Seconds>("latency");
  }
  for (auto& [name, device] : root.table("device").named_tables()) {
    (void)device.quantity_if<Watts>("power");
    (void)device.quantity<Hertz>("clock");
    (void)device.quantity<Bytes>("memory_capacity");
    (void)device.quantity<BytesPerSecond>("memory_bandwidth");
    (void)device.quantity<FlopPerSecond>("peak_fp32");
  }
  (void)root.text("name");
  root.finish();
}

}  // namespace

TEST_CASE("eleven seeded mistakes in one file give eleven good messages") {
  auto file = TomlFile::parse(kText, "hw.toml");
  REQUIRE(file);
  read(file->root());
  CHECK(file->errors().size() == 11);
  CHECK(to_text(file->errors()) == kMessages);
}
