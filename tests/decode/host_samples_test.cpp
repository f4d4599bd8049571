// Samples of a host: both ways, and every problem of a table.
#include "calibrate/decode/host_samples.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

namespace {

const std::string kHeader = "cpu,framework,op,pass,device,time_s,spread_s,date,source\n";

Result<HostSamples> read(const std::string& text) {
  const auto path = (std::filesystem::path(TBDSIM_BINARY_DIR) / ("host_samples-" + std::to_string(getpid()) + ".csv")).string();
  std::ofstream(path) << text;
  auto samples = read_host_samples(path);
  std::filesystem::remove(path);
  return samples;
}

std::string messages(const std::string& text) {
  const auto host = read(text);
  if (host) return "";
  std::string all = to_text(host.error());
  const std::string folder = std::string(TBDSIM_BINARY_DIR) + "/";
  for (std::size_t at = all.find(folder); at != std::string::npos; at = all.find(folder)) all.erase(at, folder.size());
  return all;
}

}  // namespace

TEST_CASE("samples of a host are written and read again") {
  HostSamples host{"a CPU, with a comma", "torch 1.13.1", "2026-11-23", "measured: a test", {}};
  host.samples.push_back({"conv2d", "forward", "cpu", Seconds(4.2e-6), Seconds(1e-7)});
  host.samples.push_back({"cpu_copy_64MB", "speed", "", Seconds(6.4e-3), Seconds(0.0)});
  const auto again = read(to_csv(host));
  REQUIRE(again);
  CHECK(to_csv(*again) == to_csv(host));
  CHECK(again->cpu == "a CPU, with a comma");
  CHECK(again->samples.size() == 2);
  CHECK(again->samples[0].time == Seconds(4.2e-6));
}

TEST_CASE("problems of a table of host samples") {
  CHECK(messages(kHeader).find("no samples") != std::string::npos);
  CHECK(messages("cpu,op\na,b\n").find("framework") != std::string::npos);
  const std::string mixed =
      messages(kHeader + "a,torch 1.13,add,forward,meta,1e-6,0,d,s\nb,torch 1.13,add,forward,meta,-1,0,d,s\n");
  CHECK(mixed.find("a table is of one host, which is \"a\" above, got \"b\"") != std::string::npos);
  CHECK(mixed.find("expected no negative time, got -1") != std::string::npos);
}

TEST_CASE("what the script prints becomes samples, another form is refused by its line") {
  HostSamples host;
  REQUIRE(add_pytorch_output("# torch 1.13.0a0\nadd,forward,meta,1.1e-06,2e-08\n", host));
  CHECK(host.framework == "torch 1.13.0a0");
  REQUIRE(host.samples.size() == 1);
  CHECK(host.samples[0].op == "add");
  CHECK(host.samples[0].spread == Seconds(2e-8));
  HostSamples other;
  const auto broken = add_pytorch_output("# torch 1.13\nadd,forward,meta\n", other);
  REQUIRE_FALSE(broken);
  CHECK(to_text(broken.error()) ==
        "line 2 of what pytorch_host.py printed: expected op,pass,device,time_s,spread_s, got \"add,forward,meta\"\n");
  HostSamples none;
  CHECK_FALSE(add_pytorch_output("# torch 1.13\n", none));
}
