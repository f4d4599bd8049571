// GPUs: the whole catalogue, the figures that published tables print, files both ways, and every message.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "model/hardware/hardware_file.hpp"
#include "model/input/csv_reader.hpp"
#include "tests/architectures.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const Catalogue kCatalogue{TBDSIM_SOURCE_DIR};

Device device(const std::string& id) {
  const auto found = load_device(kCatalogue, id);
  INFO((found ? "" : to_text(found.error())));
  REQUIRE(found);
  return *found;
}

/// Multiply-add rate of all fp32 cores at `clock`. At the boost clock this is the peak of most data sheets; some print it at the
/// base clock (TITAN V) or count dual issue (MI300X).
FlopPerSecond peak_fp32_at(const Device& d, Hertz clock) { return Flop(2.0 * d.multiprocessors * d.fp32_lanes) * clock; }

std::string message(std::string text) {
  const auto parsed = parse_device(all_architectures(), std::move(text), "my.toml");
  return parsed ? "" : to_text(parsed.error());
}

/// A table prints either the rounded or the cut-off value.
bool prints(double value, const std::string& printed) {
  const auto point = printed.find('.');
  const double scale = point == std::string::npos ? 1.0 : std::pow(10.0, static_cast<double>(printed.size() - point - 1));
  const double wanted = std::round(std::stod(printed) * scale);
  return std::round(value * scale) == wanted || std::floor(value * scale) == wanted;
}

const char* const kMinimal = R"(schema = 1
name = "My GPU"
multiprocessors = 10
fp32_lanes = 64
peak_fp32 = "2 TFLOP/s"
memory_capacity = "8 GiB"
memory_bandwidth = "300 GB/s"
source = "assumed: an example"
)";

std::string text_of(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("one GPU of a board of two has half of the board's power") {
  for (const char* id : {"k80", "m60"}) CHECK(load_device(kCatalogue, id)->power_limit == Watts(150.0));
}

TEST_CASE("every GPU of the catalogue agrees with itself") {
  const auto ids = catalogue_ids(kCatalogue, "gpus");
  REQUIRE(ids.size() >= 120);
  // Data sheets that print a peak other than 2 x lanes x boost clock, and the ratio they print: base-clock or
  // matrix-clock peaks (B100, B200, GB200), dual issue counted (AMD since CDNA 3).
  const std::map<std::string, double> ratio = {{"b100", 1.0},   {"b200-sxm-180gb", 1.07}, {"gb200", 1.02}, {"mi300x", 2.0},
                                               {"mi325x", 2.0}, {"mi350x", 2.0},          {"mi355x", 2.0}};
  for (const std::string& id : ids) {
    INFO(id);
    const Device d = device(id);
    CHECK(d.id == id);
    CHECK(d.source.rfind("datasheet: ", 0) == 0);
    REQUIRE(d.boost_clock);
    const double expected = ratio.count(id) ? ratio.at(id) : 1.0;
    CHECK_THAT(d.peak.fp32 / peak_fp32_at(d, *d.boost_clock), WithinRel(expected, 0.015));
    if (d.base_clock) CHECK(*d.base_clock < *d.boost_clock);
    if (d.sustained_clock) CHECK((*d.sustained_clock < *d.boost_clock && !d.sustained_clock_source.empty()));
    if (d.peak.fp16_tensor && d.peak.bf16_tensor && id != "mi100") CHECK(*d.peak.fp16_tensor == *d.peak.bf16_tensor);
    CHECK(d.nvlink_links.has_value() == d.nvlink_bandwidth.has_value());
    CHECK((d.memory_capacity > Bytes(4e9) && d.memory_capacity < Bytes(400e9)));
    CHECK((d.memory_bandwidth > BytesPerSecond(140e9) && d.memory_bandwidth < BytesPerSecond(9e12)));
    const auto back = parse_device(all_architectures(), to_toml(d), id + ".toml");
    REQUIRE(back);
    CHECK(to_toml(*back) == to_toml(d));
    CHECK(back->peak.fp32 == d.peak.fp32);
    CHECK(back->memory_bandwidth == d.memory_bandwidth);
  }
}

TEST_CASE("architectures and board classes are words of a table") {
  const auto with = [](const std::string& line) { return message(std::string(kMinimal) + line + "\n"); };
  const auto read = [](const std::string& line) {
    return *parse_device(all_architectures(), std::string(kMinimal) + line + "\n", "my.toml");
  };
  CHECK(with("architecture = \"Voltaa\"") ==
        "my.toml:9:16: architecture: no architecture \"Voltaa\", did you mean \"Volta\"?\n"
        "   9 | architecture = \"Voltaa\"\n     |                ^~~~~~~~\n");
  CHECK(with("architecture = \"banana\"")
            .rfind("my.toml:9:16: architecture: no architecture \"banana\", expected one of Kepler, "
                   "Maxwell, Pascal, Volta, Turing, Ampere, Ada, Hopper, Blackwell, GCN, CDNA, with or "
                   "without a revision as in \"Maxwell 2.0\"; leave the key out for any other\n",
                   0) == 0);
  CHECK(read("architecture = \"volta\"").architecture == "Volta");
  CHECK(read("architecture = \"ada lovelace\"").architecture == "Ada lovelace");
  CHECK(all_architectures().named("Ada Lovelace")->name == "Ada");
  CHECK(all_architectures().named("Adaptive") == nullptr);
  CHECK(all_architectures().named("") == nullptr);
  CHECK(read("board_class = \"consumer\"").board_class == BoardClass::consumer);
  CHECK(read("").board_class == BoardClass::professional);
  CHECK(with("board_class = \"consumr\"")
            .rfind("my.toml:9:15: board_class: no class of boards \"consumr\", did you mean \"consumer\"?\n", 0) == 0);
  CHECK(read("vendor = \"AMD\"").vendor == Vendor::amd);
  CHECK_FALSE(read("").vendor);
  CHECK(with("vendor = \"Amd\"").rfind("my.toml:9:10: vendor: no vendor \"Amd\", did you mean \"AMD\"?\n", 0) == 0);
  CHECK(with("sustained_clock = \"1 GHz\"")
            .rfind("my.toml:9:19: sustained_clock: acts as a share of the clock of the peak rates; "
                   "state `boost_clock` too\n",
                   0) == 0);
  for (const std::string& id : catalogue_ids(kCatalogue, "gpus"))
    CHECK(all_architectures().named(device(id).architecture) != nullptr);
}

TEST_CASE("samples in a description count as taken under its own limits, whatever an option changes") {
  const std::filesystem::path file = std::filesystem::path(TBDSIM_BINARY_DIR) / "own_samples.toml";
  std::ofstream(file) << kMinimal << "power_limit = \"200 W\"\n[[calibration]]\nfamily = \"gemm\"\nprecision = \"fp32\"\n"
                      << "compute_efficiency = 0.9\nbandwidth_efficiency = 0.8\nlaunch = \"5 us\"\nspread = 0.1\nsamples = 3\n"
                      << "source = \"fitted: an example\"\n";
  Catalogue edited = kCatalogue;
  Edits edits;
  edits.changes.push_back({"hw.device.power_limit", "\"90 W\"", "device.power_limit=90 W", 1, 20});
  edited.edits = std::make_shared<const Edits>(edits);
  const auto system = load_system(edited, file.string());
  REQUIRE(system);
  CHECK(system->device.power_limit == Watts(90.0));
  CHECK(system->device.calibration.measured->power_limit == Watts(200.0));
}

TEST_CASE("sustained clocks stand apart from boost clocks") {
  CHECK_FALSE(device("t4").sustained_clock);
  CHECK(device("titan-v").sustained_clock == Hertz(1350e6));
  CHECK_FALSE(device("rtx-2080-ti").sustained_clock);
  CHECK_FALSE(device("v100-sxm2-16gb").sustained_clock);
  const auto cloud = load_system(kCatalogue, "aws-p3.16xlarge");
  REQUIRE(cloud);
  CHECK(cloud->device.sustained_clock == Hertz(1312e6));
  CHECK(cloud->device.boost_clock == Hertz(1530e6));
}

TEST_CASE("claim C1: the GPU tables of the founding documents, as printed") {
  const std::map<std::string, std::string> ids = {
      {"TITAN Xp", "titan-xp"},   {"Quadro P4000", "p4000"},  {"TITAN V", "titan-v"},      {"GTX 1080 Ti", "gtx-1080-ti"},
      {"P100", "p100-pcie-16gb"}, {"V100", "v100-sxm2-16gb"}, {"Vega Frontier", "vega-fe"}};
  auto table = CsvTable::open(TBDSIM_SOURCE_DIR "/tests/hardware/data/printed_specs.csv");
  REQUIRE(table);
  int checked = 0;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const auto cell = [&](std::string_view column) { return table->text(row, *table->column(column)); };
    const std::string quantity = cell("quantity"), printed = cell("printed"), gpu = cell("gpu");
    INFO(gpu << " " << quantity << " " << printed);
    const Device d = device(ids.at(gpu));
    ++checked;
    if (quantity == "multiprocessors")
      CHECK(std::to_string(d.multiprocessors) == printed);
    else if (quantity == "cores")
      CHECK(std::to_string(d.multiprocessors * d.fp32_lanes) == printed);
    else if (quantity == "max_clock")
      CHECK(prints(d.boost_clock->base() / 1e6, printed));
    else if (quantity == "memory_size")
      CHECK(prints(d.memory_capacity / Bytes(1073741824.0), printed));
    else if (quantity == "llc_size")
      CHECK(prints(*d.l2_capacity / Bytes(1048576.0), printed));
    else if (quantity == "memory_bus_type")
      CHECK(d.memory_kind == printed);
    else if (quantity == "memory_bw")
      CHECK(prints(d.memory_bandwidth.base() / 1e9, printed));
    else if (quantity == "bus_interface")
      CHECK(fmt::format("PCIe {}.0", d.pcie_generation) == printed);
    else if (quantity == "memory_speed")
      CHECK(prints(memory_clock(d)->base() / 1e6, printed));
    else if (quantity == "peak_fp32" && gpu == "TITAN V")
      CHECK(prints(peak_fp32_at(d, *d.base_clock).base() / 1e12, printed));
    else if (quantity == "peak_fp32" && gpu == "P100") {
      // The maker's boost clock of the PCIe board, which the catalogue keeps in its notes beside the database's 1329 MHz.
      CHECK(d.notes.find("1126/1303") != std::string::npos);
      CHECK(prints(peak_fp32_at(d, Hertz(1303e6)).base() / 1e12, printed));
    } else if (quantity == "peak_fp32" && gpu == "Quadro P4000") {
      // The poster's 5.2 is 2 % below 2 x 1792 x 1480 MHz = 5.30, and no published clock of the board gives it.
      CHECK_THAT(peak_fp32_at(d, *d.boost_clock).base() / 1e12, WithinRel(std::stod(printed), 0.021));
    } else if (quantity == "peak_fp32")
      CHECK(prints(peak_fp32_at(d, *d.boost_clock).base() / 1e12, printed));
    else
      FAIL("a quantity without a check");
  }
  CHECK(checked == 39);
}

TEST_CASE("calibration tables are read and written without loss") {
  Device d = *parse_device(all_architectures(), kMinimal, "my.toml");
  CHECK(d.id == "my");
  CHECK_FALSE(d.base_clock);
  CHECK(d.calibration.families.empty());
  d.notes = "a \"quoted\" word, a \\ and a\ttab";
  d.base_clock = Hertz(1e9 / 3.0);  // no short decimal text
  d.calibration.families.push_back({"gemm", "fp32", 0.1 + 0.2, 2.0 / 3.0, Seconds(4.7e-6), 0.07, 412, "fitted: an example"});
  d.calibration.families.push_back({"memory_bound", "fp16", 1.0, 0.82, Seconds(0.0), 0.0, 0, "transferred: a relative"});
  const auto back = parse_device(all_architectures(), to_toml(d), "my.toml");
  REQUIRE(back);
  CHECK(back->notes == d.notes);
  CHECK(back->base_clock == d.base_clock);
  const FamilyParameters* gemm = back->calibration.find("gemm", "fp32");
  REQUIRE(gemm);
  CHECK(gemm->compute_efficiency == 0.1 + 0.2);
  CHECK(gemm->bandwidth_efficiency == 2.0 / 3.0);
  CHECK(gemm->launch == Seconds(4.7e-6));
  CHECK(gemm->samples == 412);
  CHECK(gemm->source == "fitted: an example");
  CHECK(back->calibration.find("memory_bound", "fp16")->launch == Seconds(0.0));
  CHECK(back->calibration.find("gemm", "fp16") == nullptr);
}

TEST_CASE("calibration tables name families and precisions that kernels have, each pair once") {
  const std::string rest =
      "compute_efficiency = 0.9\nbandwidth_efficiency = 0.8\nlaunch = \"5 us\"\nspread = 0.1\nsamples = 9\n"
      "source = \"fitted: here\"\n";
  const auto table = [&](const std::string& family, const std::string& precision) {
    return "[[calibration]]\nfamily = \"" + family + "\"\nprecision = \"" + precision + "\"\n" + rest;
  };
  CHECK(message(kMinimal + table("gemm", "fp32") + table("gemm", "fp16")).empty());
  CHECK(message(kMinimal + table("gem", "fp23")) ==
        "my.toml:10:10: calibration[0].family: no kernel family \"gem\", did you mean \"gemm\"?\n"
        "  10 | family = \"gem\"\n     |          ^~~~~\n"
        "my.toml:11:13: calibration[0].precision: no precision \"fp23\", did you mean \"fp32\"?\n"
        "  11 | precision = \"fp23\"\n     |             ^~~~~~\n");
  CHECK(message(kMinimal + table("gemm", "fp32") + table("gemm", "fp32")).find("a second table of gemm in fp32") !=
        std::string::npos);
}

TEST_CASE("no GPU reports more memory than it has") {
  CHECK(message(std::string(kMinimal) + "memory_reported = \"100 GiB\"\n") ==
        "my.toml:9:19: memory_reported: more than the board has, which memory_capacity states\n"
        "   9 | memory_reported = \"100 GiB\"\n     |                   ^~~~~~~~~\n");
}

TEST_CASE("a GPU file with several mistakes names them all") {
  CHECK(message(R"(schema = 2
name = "My GPU"
multiprocesors = 10
fp32_lanes = 64
peak_fp32 = "2 TFLOP"
memory_capacity = 8
memory_bandwidth = "-300 GB/s"
boost_clock = "1530"
source = ""

[[calibration]]
family = "gemm"
precision = "fp32"
compute_efficiency = "0.9"
bandwidth_efficiency = 0
launch = "5 us"
spread = 0.1
samples = -1
source = "fitted: here"
)") == R"(my.toml:1:10: schema: expected 1, got 2
   1 | schema = 2
     |          ^
my.toml:3:1: multiprocesors: unknown key, did you mean "multiprocessors"?
my.toml:5:13: peak_fp32: expected a FLOP rate such as "15.7 TFLOP/s", got "2 TFLOP" (a FLOP count)
   5 | peak_fp32 = "2 TFLOP"
     |             ^~~~~~~~~
my.toml:6:19: memory_capacity: expected a size such as "16 GiB", got 8 (a bare number; write it as a string with its unit)
   6 | memory_capacity = 8
     |                   ^
my.toml:7:20: memory_bandwidth: expected a bandwidth above 0, got "-300 GB/s"
   7 | memory_bandwidth = "-300 GB/s"
     |                    ^~~~~~~~~~~
my.toml:8:15: boost_clock: expected a frequency such as "1530 MHz", got "1530" (no unit)
   8 | boost_clock = "1530"
     |               ^~~~~~
my.toml:9:10: source: expected a string, got an empty one
   9 | source = ""
     |          ^~
my.toml:14:22: calibration[0].compute_efficiency: expected a number above 0 and at most 2, got "0.9" (a string); write it without quotes
  14 | compute_efficiency = "0.9"
     |                      ^~~~~
my.toml:15:24: calibration[0].bandwidth_efficiency: expected a number above 0 and at most 2, got 0
  15 | bandwidth_efficiency = 0
     |                        ^
my.toml:18:11: calibration[0].samples: expected a whole number from 0 to 1000000000, got -1
  18 | samples = -1
     |           ^~
)");
}

TEST_CASE("import keeps a calibration section") {
  const std::filesystem::path out = std::filesystem::path(TBDSIM_BINARY_DIR) / "import_test";
  std::filesystem::remove_all(out);
  const std::string command =
      fmt::format("python3 -B {0}/hardware/import/gpus.py {0}/tests/hardware/data/import {1}", TBDSIM_SOURCE_DIR, out.string());
  REQUIRE(std::system(command.c_str()) == 0);
  const auto file = out / "gpus" / "v100-sxm2-16gb.toml";
  const std::string fresh = text_of(file);
  CHECK(fresh == text_of(TBDSIM_SOURCE_DIR "/hardware/gpus/v100-sxm2-16gb.toml").substr(0, fresh.size()));
  const std::string section =
      "\n# how it was fitted\n[[calibration]]\nfamily = \"gemm\"\nprecision = \"fp32\"\ncompute_efficiency = 0.9\n"
      "bandwidth_efficiency = 0.8\nlaunch = \"5 us\"\nspread = 0.1\nsamples = 3\nsource = \"fitted: an example\"\n";
  std::ofstream(file, std::ios::app) << section;
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(text_of(file) == fresh + section);
  CHECK(load_device(kCatalogue, file.string())->calibration.find("gemm", "fp32")->samples == 3);
}

TEST_CASE("which CUDA release knows a device, and for which it is new") {
  CHECK(knows_family("11.1", chip("", "8.6")));
  CHECK_FALSE(knows_family("11.0", chip("", "8.6")));
  CHECK_FALSE(knows_family("11.7", chip("", "9.0")));
  CHECK(knows_family("11.8", chip("", "9.0")));
  CHECK_FALSE(knows_family("12.1", chip("", "10.0")));
  CHECK(knows_family("12.8", chip("", "12.0")));
  CHECK(knows_family("8.0", chip("", "3.7")));
  CHECK(knows_family("", chip("", "10.0")));
  CHECK(knows_family("12.1", chip("", "")));
  CHECK(is_young_for("11.1", chip("", "8.0")));
  CHECK_FALSE(is_young_for("11.2", chip("", "8.0")));
  CHECK(is_young_for("11.2", chip("", "8.6")));
  CHECK(is_young_for("12.0", chip("", "9.0")));
  CHECK_FALSE(is_young_for("11.8", chip("", "8.9")));  // Ampere's compiled kernels
  CHECK(is_young_for("12.1", chip("", "10.0")));
  CHECK_FALSE(is_young_for("12.8", chip("", "10.0")));  // as the samples of a B300
  CHECK_FALSE(is_young_for("12.9", chip("", "10.3")));
  CHECK(is_young_for("12.9", chip("", "12.0")));
  CHECK(is_young_for("9.0", chip("", "7.0")));
  CHECK_FALSE(is_young_for("9.2", chip("", "7.0")));
  CHECK_FALSE(is_young_for("10.0", chip("", "7.5")));
  CHECK_FALSE(is_young_for("8.0", chip("", "6.1")));
  CHECK_FALSE(is_young_for("", chip("", "8.0")));
}

TEST_CASE("what is no compute capability, to the letter") {
  const std::string text = text_of(TBDSIM_SOURCE_DIR "/hardware/gpus/v100-sxm2-16gb.toml");
  const auto file = std::filesystem::path(TBDSIM_BINARY_DIR) / "capability.toml";
  for (const std::string wrong : {"banana", "9", "7.0.0", "7.", ".5", "100.0", "7.55"}) {
    std::string changed = text;
    changed.replace(changed.find("\"7.0\""), 5, "\"" + wrong + "\"");
    std::ofstream(file) << changed;
    const auto device = load_device(kCatalogue, file.string());
    REQUIRE_FALSE(device);
    CHECK(device.error().front().message ==
          "compute_capability: expected a compute capability such as \"7.5\", got \"" + wrong + "\"");
  }
}
