#include "model/report/accuracy_table.hpp"

#include <string>
#include <string_view>

#include "model/report/csv.hpp"
#include "model/report/json.hpp"
#include "tests/catch.hpp"

namespace tbdsim {
namespace {

Accuracy example() {
  Accuracy accuracy;
  RowAccuracy row;
  row.id = "inside";
  row.group = "table/k80";
  row.metric = "throughput";
  row.unit = "samples/s";
  row.predicted = 110.0;
  row.low = 90.0;
  row.high = 130.0;
  row.measured = 100.0;
  row.error = 0.1;
  row.time_error = -0.0909;
  row.baseline_error = 0.5;
  accuracy.rows.push_back(row);
  row.id = "outside";
  row.measured = 80.0;
  row.error = 0.375;
  row.time_error = -0.2727;
  accuracy.rows.push_back(row);
  row.id = "fitted";
  row.fit = true;
  accuracy.rows.push_back(row);
  RowAccuracy skipped;
  skipped.id = "skipped";
  skipped.measured = 5.0;
  skipped.unit = "s";
  skipped.skipped = "no system or GPU called \"x\"";
  accuracy.rows.push_back(skipped);
  GroupAccuracy group;
  group.group = "table/k80";
  group.n = 2;
  group.skipped = 1;
  group.mean_ape = 0.182;
  group.median_ape = 0.182;
  group.p95_ape = 0.273;
  group.bias = -0.182;
  group.coverage = 0.5;
  group.range_width = 0.1818;
  group.baseline_mean_ape = 0.5;
  group.efficiency = GroupAccuracy::EfficiencyPoints{3, 4.2, 3.1, 9.9, -1.1, 6.5, {{2, 1.5, 1.2, 2.5, 0.3}}};
  accuracy.groups = {group};
  accuracy.all = group;
  accuracy.mean_of_groups = 0.182;
  accuracy.bias_of_groups = -0.182;
  GroupAccuracy fitted = group;
  fitted.n = 1;
  fitted.efficiency.reset();
  fitted.baseline_mean_ape.reset();
  accuracy.fitted_groups = {fitted};
  return accuracy;
}

TEST_CASE("one table of all: a subject, then its tables") {
  Accuracy accuracy = example();
  GroupAccuracy table = accuracy.all, subject = accuracy.all;
  table.group = "table";
  subject.group = "";
  accuracy.tables = {{"one GPU, fp32", 1, subject}, {"one GPU, fp32", 2, table}};
  CHECK(accuracy_summary(accuracy) ==
        "Validation: error of the time, or of bytes; groups: of table and device; in:\n"
        "measurements within the 80 % range; base: mean error of one constant utilisation\n"
        "per group\n"
        "               groups  n  mean  median     bias    in  base\n"
        "one GPU, fp32       1  2  18 %    18 %  -18.2 %  50 %  50 %\n"
        "  table             2  2  18 %    18 %  -18.2 %  50 %\n");
  CHECK(accuracy_summary({}).empty());
}

TEST_CASE("Accuracy for people, word by word") {
  CHECK(accuracy_table(example(), true) ==
        R"(row      measured  predicted  unit         error  of time
inside        100        110  samples/s  +10.0 %   -9.1 %
outside      80.0        110  samples/s  +37.5 %  -27.3 %  out
fitted       80.0        110  samples/s  +37.5 %  -27.3 %  fit
skipped      5.00             s          skipped
(error: of the figure that was measured, predicted / measured - 1; of time: as
the tables of groups count it, of a rate measured / predicted - 1; out: the
measurement lies outside the 80 % range; fit: a constant was fitted to this row)

Validation: error of the time, of rates as well; in: measurements within the
80 % range; width: half of that range; base: mean error of one constant
utilisation per group
group      n  mean  median   p95     bias    in  width  base
table/k80  2  18 %    18 %  27 %  -18.2 %  50 %   18 %  50 %
all rows   2  18 %    18 %  27 %  -18.2 %  50 %   18 %  50 %
mean of groups 18 %, their bias -18.2 %
1 of 2 measurements lie in their 80 % range

Scaling efficiency, predicted - measured, percentage points; base: mean error
of one constant efficiency per group; one: mean where
the measured step on one GPU is taken as given
group      n  mean  median  worst  bias  base  one  median  worst
table/k80  3   4.2     3.1    9.9  -1.1   6.5  1.5     1.2    2.5

Fit rows, which count for nothing
group      n  mean  median   p95     bias    in  width  base
table/k80  1  18 %    18 %  27 %  -18.2 %  50 %   18 %

Rows skipped
     1  no system or GPU called "x"
)");
}

TEST_CASE("Jobs that ran and are predicted not to fit are counted, and named with the rows") {
  Accuracy accuracy = example();
  const auto ends = [&](bool rows, std::string_view text) {
    const std::string all = accuracy_table(accuracy, rows);
    return all.size() > text.size() && all.compare(all.size() - text.size(), text.size(), text) == 0;
  };
  accuracy.rows[0].fits_memory = false;
  CHECK(ends(false, "\n\n1 row ran although predicted not to fit into memory (--rows names them)\n"));
  accuracy.rows[2].fits_memory = false;
  accuracy.rows[3].fits_memory = false;  // skipped: not predicted
  CHECK(ends(true, "\n\n2 rows ran although predicted not to fit into memory:\n  inside\n  fitted\n"));
}

TEST_CASE("Accuracy as JSON: whether the job of a row is predicted to fit, and nothing of a row that was skipped") {
  Accuracy accuracy = example();
  accuracy.rows[1].fits_memory = false;
  const std::string text = accuracy_json(accuracy, {});
  const auto part = [&](std::string_view from, std::string_view to) {
    const std::size_t begin = text.find(from);
    return text.substr(begin, text.find(to, begin) - begin);
  };
  CHECK(part("\"inside\"", "\"outside\"").find("\"fits\": true") != std::string::npos);
  CHECK(part("\"outside\"", "\"fitted\"").find("\"fits\": false") != std::string::npos);
  CHECK(part("\"skipped\"", "\"groups\"").find("\"fits\"") == std::string::npos);
}

TEST_CASE("Accuracy as CSV: a skipped row has a reason instead of figures") {
  const std::string text = accuracy_csv(example());
  CHECK(text.find("inside,table/k80,validation,throughput,samples/s,110,90,130,100,0.1,0.5,,-0.0909\n") != std::string::npos);
  CHECK(text.find("fitted,table/k80,fit,") != std::string::npos);
  CHECK(text.find("skipped,,validation,,s,,,,5,,,\"no system or GPU called \"\"x\"\"\",\n") != std::string::npos);
}

}  // namespace
}  // namespace tbdsim
