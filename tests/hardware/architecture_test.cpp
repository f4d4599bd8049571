// hardware/architectures.toml: every fact has a source, every GPU its family; mistakes are all reported, at their place.
#include <fstream>
#include <set>
#include <sstream>

#include "model/hardware/cluster.hpp"
#include "tests/architectures.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const std::string kFile = TBDSIM_SOURCE_DIR "/hardware/architectures.toml";

std::string text() {
  std::stringstream all;
  all << std::ifstream(kFile).rdbuf();
  return all.str();
}

std::string messages(std::string changed) {
  auto file = TomlFile::parse(std::move(changed), "a.toml");
  REQUIRE(file);
  const auto read = Architectures::read(std::move(*file));
  return read ? "" : to_text(read.error());
}

std::string with_family(const std::string& lines) { return messages(text() + "\n[[family]]\n" + lines); }

}  // namespace

TEST_CASE("every GPU of the catalogue is of the family that its capability or revision names") {
  std::set<std::string> used;
  for (const std::string& id : catalogue_ids({TBDSIM_SOURCE_DIR}, "gpus")) {
    INFO(id);
    const auto device = load_device({TBDSIM_SOURCE_DIR}, id);
    REQUIRE(device);
    CHECK_FALSE(device->chip.family.empty());
    CHECK(device->architecture.rfind(device->chip.name, 0) == 0);
    if (!device->compute_capability.empty()) {
      CHECK(capability_number(device->chip.family) <= capability_number(device->compute_capability));
      CHECK(device->chip.family.front() == device->compute_capability.front());
    }
    used.insert(device->chip.family);
  }
  CHECK(used.count("10.0") == 1);
  CHECK(used.count("10.3") == 1);
  CHECK(used.count("12.0") == 1);
  CHECK(used.count("gfx942") == 1);
}

TEST_CASE("a family by capability, by revision, by name, what is not known has no facts") {
  CHECK(chip("", "8.6").family == "8.6");
  CHECK(chip("", "3.7").family == "3.5");
  CHECK(chip("", "5.2").name == "Maxwell");
  CHECK(chip("Blackwell 2.0").family == "12.0");
  CHECK(chip("Blackwell").family == "10.0");
  CHECK(chip("ada lovelace").family == "8.9");
  CHECK(chip("CDNA 2.0").family == "gfx90a");
  CHECK(chip("CDNA 9.0").family == "gfx908");
  CHECK(chip("Hopper", "8.0").family == "9.0");  // the name tells where the two disagree
  CHECK(chip("", "2.0").family.empty());
  CHECK(chip("").family.empty());
  CHECK_FALSE(chip("").generation);
  CHECK_FALSE(chip("").lane_energy);
}

TEST_CASE("what a family does not state it has from the one that it is like, but for what it leaves out") {
  CHECK(chip("", "8.6").lane_energy == chip("", "8.0").lane_energy);
  CHECK(chip("", "8.0").ll128);
  CHECK_FALSE(chip("", "8.6").ll128);
  CHECK(chip("", "8.0").persistent == PersistentRule::ampere);
  CHECK(chip("", "8.6").persistent == PersistentRule::never);
  CHECK(chip("", "8.9").tensor->operands == 256);
  CHECK_FALSE(chip("", "8.9").tensor->energy);
  CHECK(chip("", "10.0").cuda == "12.8");
  CHECK(chip("", "10.3").cuda == "12.9");
  CHECK(chip("", "12.0").product_sets == std::vector<std::string>{"maxwell", "volta", "ampere"});
}

TEST_CASE("mistakes in a family are all told, each at its place") {
  CHECK(messages(text()).empty());
  const std::string told = with_family(
      "capability = \"12.0\"\nlike = \"11.0\"\narchitecture = \"Later\"\ncuda = \"new\"\nlane_energi = \"1e-12 J\"\n"
      "lane_energy = \"1 W\"\nnccl_tuning = \"hopper\"\nwithout = [\"speed\"]\ntensor_energy = 1e-12\nrelays = 1\n");
  for (const char* expected :
       {"capability: a second family \"12.0\"\n", "like: expected a family that stands before this one, got \"11.0\"\n",
        "cuda: expected a CUDA release such as \"11.8\"\n", "lane_energi: unknown key, did you mean \"lane_energy\"?\n",
        "lane_energy: expected an energy", "nccl_tuning: no tuning \"hopper\"", "without: no fact is called \"speed\"\n",
        "tensor_energy: says nothing without tensor_operands\n", "relays: expected true or false, got 1",
        "source: missing key"}) {
    INFO(expected);
    INFO(told);
    CHECK(told.find(expected) != std::string::npos);
  }
  CHECK(told.rfind("a.toml:", 0) == 0);
  CHECK(with_family("capability = \"11.0\"\nlike = \"10.0\"\nsource = \"assumed: a test\"\n")
            .find("capability: expected one above those before it") != std::string::npos);
  CHECK(with_family("chip = \"gfx1\"\ncapability = \"13.0\"\nlike = \"10.0\"\nsource = \"assumed: a test\"\n")
            .find("chip: beside `capability`: a family has one of the two") != std::string::npos);
  CHECK(with_family("capability = \"13.0\"\nsource = \"assumed: a test\"\n").find("architecture: missing key") !=
        std::string::npos);
}

TEST_CASE("a fact without a source is refused, whether or not a family states it") {
  std::istringstream lines(text());
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  int facts = 0;
  bool inside = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].empty() && all[i].front() == '[') inside = all[i] == "[source]";
    if (!inside || all[i].find(" = \"") == std::string::npos) continue;
    ++facts;
    std::string without;
    for (std::size_t k = 0; k < all.size(); ++k) without += (k == i ? "" : all[k]) + "\n";
    INFO(all[i]);
    CHECK(messages(without).find("missing key, expected a string") != std::string::npos);
  }
  CHECK(facts == 26);
}
