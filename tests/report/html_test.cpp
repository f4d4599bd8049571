// The page of a report: whole, alone, and safe from what its data say.
#include "model/report/html.hpp"

#include "tests/catch.hpp"
#include "tests/report/example_prediction.hpp"

using namespace tbdsim;

TEST_CASE("a report is one page that asks for nothing and that its data cannot end") {
  Prediction prediction = example_prediction();
  prediction.model = "</script><script>alert(1)</script>";
  const std::string page = html_report(prediction, {}, {});
  CHECK(page.find("@DATA@") == std::string::npos);
  CHECK(page.find("alert(1)</script>") == std::string::npos);
  CHECK(page.find("\\u003c/script>\\u003cscript>alert(1)") != std::string::npos);
  CHECK(page.rfind("</html>\n") == page.size() - 8);
  const std::string around(html_template());
  CHECK(around.find("id=\"kinds\" class=\"legend\"") != std::string::npos);  // of the timeline's colours
  for (const char* outside : {"src=\"", "href=\"http", "@import", "url("}) CHECK(around.find(outside) == std::string::npos);
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
  prediction.kernels = {kernel, kernel};
  prediction.exchanges = {{Seconds(2e-3), Seconds(1e-6)}};
  std::vector<Prediction> scaling(3, prediction);
  for (std::size_t i = 0; i < scaling.size(); ++i) scaling[i].throughput.value = 100.0 * static_cast<double>(i + 1);
  const double hour = 3600.0 / 1e6;        // USD of an hour for each USD of a million samples at one sample a second
  const double costs[] = {1.0, 2.0, 1.5};  // the last is faster and cheaper than the one before
  for (std::size_t i = 0; i < scaling.size(); ++i) {
    scaling[i].bought = Payment{};
    scaling[i].bought->hour = Usd(hour * costs[i] * scaling[i].throughput.value);
    scaling[i].rented = Payment{};
    scaling[i].rented->hour = Usd(hour * scaling[i].throughput.value);  // rents alike, which are no measure of prices
  }
  const std::string page = html_report(prediction, {}, scaling);
  CHECK(page.find(R"("timeline":{"words":["conv","forward","gemm","compute"],"kernels":[[0,1,0,2,3,1000.000,25.000],)"
                  R"([0,1,0,2,3,1000.000,25.000]],"exchanges":[[2000.000,1.000]],"pipeline":null})") != std::string::npos);
  CHECK(page.find(R"("front":[true,false,true])") != std::string::npos);
  CHECK(page.find(R"("paid_by":"purchase")") != std::string::npos);
  scaling[2].memory.fits = false;  // no choice at all
  CHECK(html_report(prediction, {}, scaling).find(R"("front":[true,true,false])") != std::string::npos);
  scaling[1].bought.reset();
  CHECK(html_report(prediction, {}, scaling).find(R"("paid_by":"rent")") != std::string::npos);
  scaling[2].rented.reset();  // now one is rented, one bought: no measure of each other
  CHECK(html_report(prediction, {}, scaling).find(R"("front":[])") != std::string::npos);
}
