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
  for (const char* outside : {"src=\"", "href=\"http", "@import", "url("}) CHECK(around.find(outside) == std::string::npos);
}
