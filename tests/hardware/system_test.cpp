// Systems: names, files of users, embedded parts, and every message to the letter.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/hardware/hardware_file.hpp"
#include "model/hardware/price.hpp"
#include "model/hardware/storage.hpp"
#include "model/input/csv_reader.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const Catalogue kCatalogue{TBDSIM_SOURCE_DIR};

std::string message(std::string text) {
  const auto parsed = parse_system(kCatalogue, std::move(text), "my.toml");
  return parsed ? "" : to_text(parsed.error());
}

std::string miss(const std::string& name) {
  const auto found = load_system(kCatalogue, name);
  return found ? "found " + found->id : to_text(found.error());
}

std::string text_of(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Four GPUs in a ring; `nvlink` lines and `wires` can be replaced to make one mistake.
std::string four_gpus(const std::string& wires, const std::string& head = "gpus = 4\n",
                      const std::string& link = "bandwidth = \"25 GB/s\"\n") {
  return "schema = 1\nname = \"box\"\ndevice = \"v100-sxm2-16gb\"\n" + head +
         "source = \"assumed: a test\"\n[link.nvlink]\nkind = \"nvlink\"\n" + link + "source = \"assumed: a test\"\nwires = [\n" +
         wires + "]\n";
}

const std::string kRing = "  {a = \"gpu0\", b = \"gpu1\"},\n  {a = \"gpu1\", b = \"gpu2\"},\n  {a = \"gpu2\", b = \"gpu3\"},\n";

/// A folder of the user's, made current while it lives.
class UserFolder {
 public:
  UserFolder() : before_(std::filesystem::current_path()), here_(std::filesystem::path(TBDSIM_BINARY_DIR) / "user_folder") {
    std::filesystem::remove_all(here_);
    std::filesystem::create_directories(here_);
    std::filesystem::current_path(here_);
  }
  ~UserFolder() { std::filesystem::current_path(before_); }
  UserFolder(const UserFolder&) = delete;
  UserFolder& operator=(const UserFolder&) = delete;

 private:
  std::filesystem::path before_, here_;
};

}  // namespace

TEST_CASE("the whole catalogue is read") {
  REQUIRE(catalogue_ids(kCatalogue, "systems").size() >= 39);
  for (const std::string& id : catalogue_ids(kCatalogue, "systems")) {
    const auto system = load_system(kCatalogue, id);
    INFO(id << (system ? "" : to_text(system.error())));
    REQUIRE(system);
    CHECK(system->id == id);
    CHECK(static_cast<int>(system->topology.gpus().size()) == system->gpu_count);
    CHECK(system->sha256.size() == 64);
    CHECK_FALSE(system->wiring_source.empty());
    for (const LinkBundle& link : system->topology.links) {
      CHECK((link.achieved <= link.bandwidth && link.sm_copy <= link.bandwidth && link.bandwidth > BytesPerSecond(0.0)));
      CHECK_FALSE(link.source.empty());
    }
    // Every GPU reaches every other one and its host.
    const auto gpus = system->topology.gpus();
    for (const VertexId gpu : gpus) {
      CHECK(find_route(system->topology, gpus[0], gpu));
      CHECK(find_route(system->topology, gpu, *system->topology.find("cpu0"), gpus.size() > 16 ? Via::any : Via::host));
    }
  }
  for (const std::string& id : catalogue_ids(kCatalogue, "networks")) {
    const auto network = load_network(kCatalogue, id);
    INFO(id);
    REQUIRE(network);
    CHECK(network->achieved <= network->bandwidth);
    CHECK(network->rdma == (id.rfind("infiniband", 0) == 0 || id.find("roce") != std::string::npos));
  }
  for (const std::string& id : catalogue_ids(kCatalogue, "hosts")) CHECK(load_host(kCatalogue, id));
  for (const std::string& id : catalogue_ids(kCatalogue, "storage")) CHECK(load_storage(kCatalogue, id));
}

TEST_CASE("every host says how fast a thread is, and whether something names its CPU") {
  for (const std::string& id : catalogue_ids(kCatalogue, "hosts")) {
    const auto host = load_host(kCatalogue, id);
    INFO(id);
    REQUIRE(host);
    REQUIRE(host->single_thread);
    const bool nameless = id.rfind("plain-pcie", 0) == 0 || id.find("vcpu") != std::string::npos;
    CHECK(knows_single_thread(*host) == !nameless);
  }
  // A CPU of 2023 is not slower than one of 2016.
  CHECK(load_host(kCatalogue, "2x-intel-xeon-platinum-8480")->single_thread ==
        load_host(kCatalogue, "2x-intel-xeon-platinum-8480c")->single_thread);
  CHECK(load_system(kCatalogue, "gcp-a3-highgpu-8g")->host.id == load_system(kCatalogue, "gcp-a3-megagpu-8g")->host.id);
}

TEST_CASE("one board without a slot is issued to as fast as several, and nothing names its CPU") {
  int mounted = 0;
  for (const std::string& id : catalogue_ids(kCatalogue, "gpus")) {
    const auto one = load_system(kCatalogue, id), two = load_system(kCatalogue, id, 2);
    INFO(id);
    REQUIRE(one);
    REQUIRE(two);
    CHECK(single_thread(one->host) == single_thread(two->host));
    CHECK(one->host.dispatch_scale == two->host.dispatch_scale);
    CHECK_FALSE(knows_single_thread(one->host));
    mounted += two->chosen_for.empty() ? 0 : 1;
  }
  CHECK(mounted > 10);
  const auto board = load_system(kCatalogue, "mi300x");
  CHECK(board->host.id == "plain-pcie-5");
  CHECK(board->host.single_thread == 0.974);
  CHECK(board->host.single_thread_source ==
        "assumed: as of mi300x-platform, in which several of these boards are mounted; nothing names the CPU");
}

TEST_CASE("a host that states no speed has that of a plain host with its GPU's PCIe") {
  const auto speed = [](const std::string& device) {
    const auto system = parse_system(kCatalogue,
                                     "schema = 1\nname = \"box\"\ndevice = \"" + device +
                                         "\"\ngpus = 1\nsource = \"assumed: a test\"\n"
                                         "[host]\nname = \"a CPU\"\nsockets = 1\ncores = 8\nsource = \"assumed: a test\"\n",
                                     "my.toml");
    INFO((system ? "" : to_text(system.error())));
    REQUIRE(system);
    CHECK_FALSE(knows_single_thread(system->host));
    return system->host.single_thread;
  };
  for (const auto& [device, plain] :
       {std::pair{"gtx-1080", "plain-pcie-3"}, {"rtx-3090", "plain-pcie-4"}, {"h100-pcie-80gb", "plain-pcie-5"}})
    CHECK(speed(device) == load_host(kCatalogue, plain)->single_thread);
}

TEST_CASE("names are folded, and .toml is stripped") {
  for (const char* name : {"dgx1", "DGX-1", "dgx_1", "dgx1v", "DGX-1V", "dgx1.toml", "DGX-1.toml", "dgx1-v100-16gb"}) {
    INFO(name);
    const auto system = load_system(kCatalogue, name);
    REQUIRE(system);
    CHECK(system->id == "dgx1");
    CHECK(system->device.id == "v100-sxm2-16gb");
    CHECK(system->device.name == "Tesla V100 SXM2 16GB");
    CHECK(system->host.cores == 40);
    CHECK(system->host.memory_capacity == Bytes(512e9));
    CHECK(system->network->id == "infiniband-edr");
    CHECK(system->nics == 4);
  }
  CHECK(load_system(kCatalogue, "dgx1-v100-32gb")->device.memory_capacity == Bytes(32.0 * 1073741824.0));
  CHECK(load_system(kCatalogue, "dgx1p")->id == "dgx1-p100");
  CHECK(load_device(kCatalogue, "V100_SXM2_16GB")->id == "v100-sxm2-16gb");
  CHECK(load_network(kCatalogue, "InfiniBand EDR")->id == "infiniband-edr");
}

TEST_CASE("a device name is that many GPUs in a plain PCIe host") {
  const auto one = load_system(kCatalogue, "p4000");
  REQUIRE(one);
  CHECK(one->gpu_count == 1);
  CHECK(one->name == "1 x Quadro P4000 in a plain PCIe 3.0 host");
  CHECK(one->notes == "a plain PCIe host was assumed around the GPU");
  CHECK(one->wiring_source.rfind("assumed: ", 0) == 0);
  CHECK_FALSE(one->network);
  const auto eight = load_system(kCatalogue, "p4000.toml", 8);
  REQUIRE(eight);
  const Topology& t = eight->topology;
  CHECK(relation(t, t.gpus()[0], t.gpus()[3]).pcie == "PHB");
  CHECK(relation(t, t.gpus()[3], t.gpus()[4]).pcie == "SYS");
  CHECK(relation(t, t.gpus()[0], t.gpus()[3]).peer_access);
  CHECK_FALSE(relation(t, t.gpus()[3], t.gpus()[4]).peer_access);
  CHECK(load_system(kCatalogue, "mi100", 16)->topology.gpus().size() == 16);
}

TEST_CASE("a name that is missed or fits several") {
  CHECK(miss("dgx-stattion") == "no system or GPU called \"dgx-stattion\", did you mean \"dgx-station\"?\n");
  CHECK(miss("dgx-stattion.toml") ==
        "no file \"dgx-stattion.toml\" here, and no system or GPU called \"dgx-stattion\", did you mean \"dgx-station\"?\n");
  // Another number is another machine.
  CHECK_THAT(miss("dgx9"), Catch::Matchers::StartsWith("no system or GPU called \"dgx9\"; none has all words of \"dgx9\", the "
                                                       "nearest relatives are \"dgx1\", \"dgx2\", "));
  CHECK(miss("p100") ==
        "no system or GPU called \"p100\", did you mean one of \"p100-pcie-16gb\", \"p100-sxm2-16gb\", "
        "\"dgx1-p100\", \"gp100\"? See `tbdsim list systems` and `tbdsim list gpus`\n");
  // What people type: the number alone, a count, the maker's line.
  CHECK(miss("1080ti") == "no system or GPU called \"1080ti\", did you mean \"gtx-1080-ti\"?\n");
  CHECK_THAT(miss("k80x8"), Catch::Matchers::Contains("the nearest relatives are \"k80\", "));
  CHECK(miss("something else") ==
        "no system or GPU called \"something else\"; see `tbdsim list systems` and `tbdsim list gpus`\n");
  CHECK(miss("here/dgx1.toml") == "here/dgx1.toml: cannot open: No such file or directory\n");
  CHECK(to_text(load_device(kCatalogue, "titan-xpp").error()) == "no GPU called \"titan-xpp\", did you mean \"titan-xp\"?\n");
  CHECK(to_text(load_network(kCatalogue, "ethernnet-10g").error()) ==
        "no network called \"ethernnet-10g\", did you mean \"ethernet-10g\"?\n");
  const std::vector<std::string> ids = {"opt-1.3b", "opt-13b", "opt-30b"};
  CHECK(*resolve_name("opt-13b", ids, "network") == "opt-13b");
  CHECK(*resolve_name("OPT30B", ids, "network") == "opt-30b");
  CHECK(resolve_name("opt13b", ids, "network").error().front().message ==
        "\"opt13b\" fits more than one network: \"opt-1.3b\", \"opt-13b\"");
}

TEST_CASE("mistakes in a system file, to the letter") {
  CHECK(message(four_gpus(kRing)) == "");
  CHECK(message(four_gpus(kRing, "gpus = 4\nhosts = 2\n")) == "");
  CHECK_THAT(message(four_gpus(kRing, "gpus = 4\nhosts = 3\n")),
             Catch::Matchers::Contains("hosts: expected a divisor of the 4 GPUs, got 3"));
  CHECK(message(four_gpus(kRing + "  {a = \"gpu3\", b = \"gpu9\"},\n")) ==
        R"(my.toml:14:20: link.nvlink.wires[3].b: no vertex called "gpu9", did you mean "gpu0"?
  14 |   {a = "gpu3", b = "gpu9"},
     |                    ^~~~~~
)");
  CHECK(message(four_gpus(kRing + "  {a = \"gpu3\", b = \"gpu3\", count = 0},\n")) ==
        R"(my.toml:14:20: link.nvlink.wires[3].b: a link needs two different ends
  14 |   {a = "gpu3", b = "gpu3", count = 0},
     |                    ^~~~~~
my.toml:14:36: link.nvlink.wires[3].count: expected a whole number from 1 to 1024, got 0
  14 |   {a = "gpu3", b = "gpu3", count = 0},
     |                                    ^
)");
  CHECK(message(four_gpus(kRing, "gpus = 6\n")) ==
        R"(my.toml:4:8: gpus: unconnected GPU: 2 of 6 (gpu4, gpu5) end no link
   4 | gpus = 6
     |        ^
)");
  CHECK(message(four_gpus(kRing, "gpus = 3\n")) ==
        R"(my.toml:13:20: link.nvlink.wires[2].b: no vertex called "gpu3", did you mean "gpu0"?
  13 |   {a = "gpu2", b = "gpu3"},
     |                    ^~~~~~
)");
  CHECK(message(four_gpus(kRing, "gpus = 4\n", "bandwidth = \"25 GB\"\nlatancy = \"2 us\"\n")) ==
        R"(my.toml:8:13: link.nvlink.bandwidth: expected a bandwidth such as "25 GB/s", got "25 GB" (a size)
   8 | bandwidth = "25 GB"
     |             ^~~~~~~
my.toml:9:1: link.nvlink.latancy: unknown key, did you mean "latency"?
)");
  CHECK(message(four_gpus(kRing, "gpus = 4\n", "bandwidth = \"0 GB/s\"\nachieved = \"-1 GB/s\"\n")) ==
        R"(my.toml:8:13: link.nvlink.bandwidth: expected a bandwidth above 0, got "0 GB/s"
   8 | bandwidth = "0 GB/s"
     |             ^~~~~~~~
my.toml:9:12: link.nvlink.achieved: expected a bandwidth above 0, got "-1 GB/s"
   9 | achieved = "-1 GB/s"
     |            ^~~~~~~~~
)");
}

TEST_CASE("a machine that draws less than its GPUs, a link of seconds, a CPU without cores or clock are refused") {
  using Catch::Matchers::Contains;
  CHECK(message(four_gpus(kRing, "gpus = 4\npower = \"1200 W\"\n")) == "");
  CHECK_THAT(message(four_gpus(kRing, "gpus = 4\npower = \"1000 W\"\n")),
             Contains("my.toml:5:9: power: 1 kW of the whole machine, less than its 4 GPUs draw, 1.2 kW"));
  CHECK_THAT(message(four_gpus(kRing, "gpus = 4\n", "bandwidth = \"25 GB/s\"\nlatency = \"1 h\"\n")),
             Contains("link.nvlink.latency: expected a time from 0 to 1 s, got \"1 h\""));
  const auto host = [](const std::string& keys) {
    return message(four_gpus(kRing, "gpus = 4\nhost = {name = \"x\", source = \"assumed: x\", " + keys + "}\n"));
  };
  CHECK(host("sockets = 2, cores = 2, clock = \"3.5 GHz\"") == "");
  CHECK_THAT(host("sockets = 4, cores = 1"), Contains("host.cores: of all 4 sockets together, got 1: at least one each"));
  CHECK_THAT(host("sockets = 1, cores = 1, clock = \"3.5 MHz\""), Contains("host.clock: expected a frequency"));
}

TEST_CASE("ten mistakes in one system file give ten messages") {
  CHECK(message(R"(schema = 1
name = ""
device = "v100-sxm2-16g"
gpus = 2.0
nics = -1
network = "infiniband-edrr"
rent = "3 USD"
host_memry = "512 GB"
source = "assumed: a test"
[link.nvlink]
kind = "nvlnk"
bandwidth = 25
source = "assumed: a test"
wires = [{a = "gpu0"}]
)") == R"(my.toml:2:8: name: expected a string, got an empty one
   2 | name = ""
     |        ^~
my.toml:3:10: device: no GPU called "v100-sxm2-16g", did you mean "v100-sxm2-16gb"?
   3 | device = "v100-sxm2-16g"
     |          ^~~~~~~~~~~~~~~
my.toml:4:8: gpus: expected a whole number from 1 to 4096, got 2.0 (a decimal number)
   4 | gpus = 2.0
     |        ^~~
my.toml:5:8: nics: expected a whole number from 0 to 4096, got -1
   5 | nics = -1
     |        ^~
my.toml:6:11: network: no network called "infiniband-edrr", did you mean "infiniband-edr"?
   6 | network = "infiniband-edrr"
     |           ^~~~~~~~~~~~~~~~~
my.toml:7:8: rent: expected a price per time such as "3.06 USD/h", got "3 USD" (an amount of money)
   7 | rent = "3 USD"
     |        ^~~~~~~
my.toml:8:1: host_memry: unknown key, did you mean "host_memory"?
my.toml:11:8: link.nvlink.kind: no link kind "nvlnk", did you mean "nvlink"?
  11 | kind = "nvlnk"
     |        ^~~~~~~
my.toml:12:13: link.nvlink.bandwidth: expected a bandwidth such as "25 GB/s", got 25 (a bare number; write it as a string with its unit)
  12 | bandwidth = 25
     |             ^~
my.toml:14:10: link.nvlink.wires[0].b: missing key, expected a string
  14 | wires = [{a = "gpu0"}]
     |          ^~~~~~~~~~~~
)");
}

TEST_CASE("a user's file names parts beside it, embeds them, or both") {
  const UserFolder here;
  std::ofstream("mygpu.toml") << text_of(TBDSIM_SOURCE_DIR "/hardware/gpus/gtx-1080.toml");
  std::ofstream("mybox.toml") << "schema = 1\nname = \"mine\"\ndevice = \"mygpu\"\ngpus = 2\nsource = \"assumed: a test\"\n";
  const auto box = load_system(kCatalogue, "mybox.toml");
  INFO((box ? "" : to_text(box.error())));
  REQUIRE(box);
  CHECK(box->id == "mybox");
  CHECK(box->file == "mybox.toml");
  CHECK(box->device.name == "GeForce GTX 1080");
  CHECK(box->device.id == "mygpu");
  CHECK(box->host.id == "plain-pcie-3");
  CHECK(load_system(kCatalogue, "./mygpu.toml", 3)->gpu_count == 3);  // a GPU file works like a device name

  // A file beside the user comes before the catalogue's of that name; a word without .toml means the catalogue.
  std::ofstream("dgx1.toml")
      << "schema = 1\nname = \"my dgx\"\ndevice = \"mygpu.toml\"\ngpus = 1\nsource = \"assumed: a test\"\n";
  CHECK(load_system(kCatalogue, "dgx1.toml")->name == "my dgx");
  CHECK(load_system(kCatalogue, "dgx1")->name == "DGX-1V");

  std::string embedded = "schema = 1\nname = \"mine\"\ngpus = 1\nsource = \"assumed: a test\"\n[device]\n";
  std::string gpu = text_of("mygpu.toml");
  embedded += gpu.substr(gpu.find("name ="));
  embedded += "[network]\nname = \"home\"\nbandwidth = \"1 Gb/s\"\nsource = \"assumed: a test\"\n";
  std::ofstream("embedded.toml") << embedded;
  const auto inside = load_system(kCatalogue, "embedded.toml");
  INFO((inside ? "" : to_text(inside.error())));
  REQUIRE(inside);
  CHECK(inside->device.name == "GeForce GTX 1080");
  CHECK(inside->network->bandwidth == BytesPerSecond(0.125e9));
  CHECK(inside->network->achieved == 0.8 * inside->network->bandwidth);
  CHECK(inside->network->latency == Seconds(60e-6));

  std::ofstream("mygpu.toml") << "schema = 1\nname = \"broken\"\n";
  const std::string text = to_text(load_system(kCatalogue, "mybox.toml").error());
  CHECK(text.find("mygpu.toml:1:1: multiprocessors: missing key, expected a whole number from 1 to 4096\n") == 0);
}

TEST_CASE("the examples of hardware/README.md are read as printed") {
  const std::string readme = text_of(TBDSIM_SOURCE_DIR "/hardware/README.md");
  std::vector<System> systems;
  const std::string fence = "```toml\n";
  for (auto at = readme.find(fence); at != std::string::npos; at = readme.find(fence, at + 1)) {
    const auto start = at + fence.size();
    const auto system = parse_system(kCatalogue, readme.substr(start, readme.find("```", start) - start), "readme.toml");
    INFO((system ? "" : to_text(system.error())));
    REQUIRE(system);
    systems.push_back(*system);
  }
  REQUIRE(systems.size() == 3);
  REQUIRE(systems[2].tiers.size() == 2);
  CHECK(systems[2].tiers[1].oversubscription == 7.0);
  CHECK(systems[0].device.id == "rtx-2080-ti");
  CHECK(peer_pairs(systems[0].topology) == 0);
  CHECK(systems[1].host.name == "two 16-core CPUs");
  const Topology& t = systems[1].topology;
  // A ring of four with two links a step: two rings in each direction.
  CHECK(find_rings(t, t.gpus(), {false, false}).rings.size() == 4);
  CHECK(relation(t, t.gpus()[0], t.gpus()[2]).peer_access);  // over the switch
}

TEST_CASE("claim C2: moving a petabyte through the deck's table") {
  const auto stages = load_data_path(kCatalogue);
  REQUIRE(stages);
  auto table = CsvTable::open(TBDSIM_SOURCE_DIR "/tests/hardware/data/one_petabyte.csv");
  REQUIRE(table);
  const auto words = [](double hours) {  // to the nearest hour, day or week
    const auto plural = [](double count, const char* unit) { return fmt::format("{:.0f} {}", count, unit); };
    return hours < 24 ? plural(hours, "hours") : hours < 24 * 7 ? plural(hours / 24, "days") : plural(hours / 24 / 7, "weeks");
  };
  REQUIRE(table->rows() == 2 * stages->size());
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const DataPathStage& stage = (*stages)[row / 2];
    REQUIRE(stage.name == table->text(row, 0));
    const double hours = (Bytes(1e15) / stage.bandwidth).base() / 3600.0;
    if (row % 2 == 0)
      CHECK(words(hours) == table->text(row, 2));
    else
      CHECK_THAT(hours, WithinAbs(*table->number(row, 2), 0.005));
  }
}

TEST_CASE("prices") {
  const auto prices = load_prices(kCatalogue);
  REQUIRE(prices);
  CHECK(prices->size() == 68);
  for (const Price& price : *prices) {
    INFO(price.provider << " " << price.instance);
    if (price.device) CHECK(load_device(kCatalogue, *price.device));
  }
  // Whole instances: one GPU of an eighth of a machine's rent is not to be had.
  const auto rent = [&](const char* device, int gpus) {
    const auto whole = cheapest_instances(*prices, device, "on_demand", gpus).value();
    CHECK(whole.count * *whole.price.gpus >= gpus);
    return whole.count * whole.price.rent.base() * 3600.0;
  };
  CHECK_THAT(rent("k80", 1), WithinRel(0.9, 1e-12));
  CHECK_THAT(rent("k80", 2), WithinRel(7.2, 1e-12));
  CHECK_THAT(rent("k80", 17), WithinRel(17 * 0.9, 1e-12));  // none has so many
  CHECK_THAT(rent("v100-sxm2-16gb", 1), WithinRel(3.06, 1e-12));
  CHECK(cheapest_instances(*prices, "v100-sxm2-16gb", "on_demand", 8)->price.provider == "Lambda");
  CHECK_FALSE(cheapest_instances(*prices, "p4000", "on_demand", 1));
  CHECK(load_system(kCatalogue, "aws-p2.16xlarge")->rent == UsdPerSecond(14.4 / 3600.0));
  CHECK_FALSE(load_system(kCatalogue, "gcp-a2-highgpu-8g")->rent);  // the published figure leaves the GPUs out
}
