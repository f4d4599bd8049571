// The pages of --report: whole, alone, and safe from what their data say.
#include "model/report/report_page.hpp"

#include "model/report/predict_page.hpp"
#include "model/report/web_parts.hpp"
#include "tests/catch.hpp"
#include "tests/report/example_prediction.hpp"

using namespace tbdsim;

namespace {

constexpr const char* kVerbs[] = {"predict", "compare", "scale", "sweep", "memory", "explain", "network", "validate", "topology"};

std::string data_of(const Prediction& prediction, const std::vector<Prediction>& scaling) {
  const Roofs roofs{FlopPerSecond(15.7e12), std::nullopt, BytesPerSecond(900e9)};
  // As it stands in a page, without blanks.
  return report_page({"predict", "", {}}, predict_page_data(prediction, {}, scaling, roofs));
}

}  // namespace

TEST_CASE("a page asks for nothing and its data cannot end it") {
  const std::string page = report_page({"compare", "tbdsim compare '</script>'", {"a \"note\" </script>"}},
                                       R"({"name": "</script><script>alert(1)</script>"})");
  CHECK(page.find("@DATA@") == std::string::npos);
  CHECK(page.find("alert(1)</script>") == std::string::npos);
  CHECK(page.find("\\u003c/script>\\u003cscript>alert(1)") != std::string::npos);
  CHECK(page.find(R"("command":"tbdsim compare '\u003c/script>'","notices":["a \"note\" \u003c/script>"])") != std::string::npos);
  CHECK(page.find(kPageMark) < 4096);
  CHECK(page.rfind("</html>\n") == page.size() - 8);
}

TEST_CASE("every verb with a page has a script, and no page names anything outside itself") {
  for (const char* verb : kVerbs) {
    INFO(verb);
    CHECK_FALSE(web_part(std::string(verb) + ".js").empty());
    const std::string page = report_page({verb, "", {}}, "{}");
    for (const char* mark : {"@STYLE@", "@PLOT@", "@SCRIPT@", "@DATA@"}) CHECK(page.find(mark) == std::string::npos);
    for (const char* outside : {"src=\"", "href=\"http", "@import", "url(http"}) CHECK(page.find(outside) == std::string::npos);
    CHECK(page.size() < 600'000);
  }
}

TEST_CASE("every page holds the notices of the libraries in it, in a comment before them") {
  const std::string notices = web_part("plot/LICENSE");
  for (const char* package :
       {"@observablehq/plot", "d3-array", "isoformat", "Permission to use, copy, modify, and/or distribute"})
    CHECK(notices.find(package) != std::string::npos);
  CHECK(notices.find("*/") == std::string::npos);
  for (const char* verb : kVerbs) {
    INFO(verb);
    const std::string page = report_page({verb, "", {}}, "{}");
    CHECK(page.find("<script>/*\n" + notices + "*/\n" + web_part("plot/plot.min.js")) != std::string::npos);
  }
}

TEST_CASE("no script takes a name for markup") {
  for (const char* verb : kVerbs) CHECK(web_part(std::string(verb) + ".js").find("innerHTML") == std::string::npos);
  for (const char* shared : {"elements.js", "tables.js", "figures.js", "charts.js", "timeline.js"}) {
    INFO(shared);
    CHECK(web_part(shared).find("innerHTML") == std::string::npos);
  }
}

TEST_CASE("the page draws each kernel from words told once, and fills the points of the front") {
  Prediction prediction = example_prediction();
  KernelTime kernel;
  kernel.name = kernel.layer = "conv";
  kernel.pass = Pass::forward;
  kernel.algorithm = "gemm";
  kernel.bound = "compute";
  kernel.start = Seconds(1e-3);
  kernel.time = Seconds(25e-6);
  prediction.detail.kernels = {kernel, kernel};
  prediction.detail.exchanges = {{Seconds(2e-3), Seconds(1e-6)}};
  std::vector<Prediction> scaling(3, prediction);
  for (std::size_t i = 0; i < scaling.size(); ++i) scaling[i].throughput.value = 100.0 * static_cast<double>(i + 1);
  const double hour = 3600.0 / 1e6;        // USD of an hour for each USD of a million samples at one sample a second
  const double costs[] = {1.0, 2.0, 1.5};  // the last is faster and cheaper than the one before
  for (std::size_t i = 0; i < scaling.size(); ++i) {
    scaling[i].cost.bought = Payment{};
    scaling[i].cost.bought->hour = Usd(hour * costs[i] * scaling[i].throughput.value);
    scaling[i].cost.rented = Payment{};
    scaling[i].cost.rented->hour = Usd(hour * scaling[i].throughput.value);  // rents alike, which are no measure of prices
  }
  const std::string page = data_of(prediction, scaling);
  CHECK(page.find(R"("timeline":{"words":["conv","forward","gemm","compute"],"kernels":[[0,1,0,2,3,1000.000,25.000,0,0],)"
                  R"([0,1,0,2,3,1000.000,25.000,0,0]],"exchanges":[[2000.000,1.000]],"lanes":[],"pipeline":null})") !=
        std::string::npos);
  CHECK(page.find(R"("front":[true,false,true])") != std::string::npos);
  CHECK(page.find(R"("paid_by":"purchase")") != std::string::npos);
  scaling[2].memory.fits = false;  // no choice at all
  CHECK(data_of(prediction, scaling).find(R"("front":[true,true,false])") != std::string::npos);
  scaling[1].cost.bought.reset();
  CHECK(data_of(prediction, scaling).find(R"("paid_by":"rent")") != std::string::npos);
  scaling[2].cost.rented.reset();  // now one is rented, one bought: no measure of each other
  CHECK(data_of(prediction, scaling).find(R"("front":[])") != std::string::npos);
}
