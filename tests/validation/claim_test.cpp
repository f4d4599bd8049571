// Claims: what their expressions mean, and what a wrong one says.
#include <limits>

#include "model/report/claims_report.hpp"
#include "model/validation/claim_evaluate.hpp"
#include "model/validation/scenario_file.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

/// `size(gpus=N)` is N, `list()` is 1, 2 and 4, `kind()` a text.
Result<LeafValues> leaves(const std::string& name, const std::vector<ClaimOption>& stated,
                          const std::vector<ClaimOption>& defaults) {
  if (name == "list") return LeafValues{{1, 2, 4}, {}};
  if (name == "kind") return LeafValues{{}, {"GDDR5"}};
  if (name == "endless") return LeafValues{{1, std::numeric_limits<double>::infinity()}, {}};
  if (name == "nothing_at_all") return LeafValues{{std::numeric_limits<double>::quiet_NaN()}, {}};
  if (name != "size") return fail("no leaf " + name);
  for (const auto& options : {stated, defaults}) {
    for (const ClaimOption& option : options) {
      if (option.first == "gpus") return LeafValues{{std::stod(option.second)}, {}};
    }
  }
  return LeafValues{{1}, {}};
}

bool holds(const std::string& text) {
  INFO(text);
  const auto claim = parse_claim(text);
  INFO((claim ? "" : claim.error().message));
  REQUIRE(claim);
  const auto outcome = evaluate(*claim, {{"gpus", "8"}}, leaves);
  INFO((outcome ? "" : to_text(outcome.error())));
  REQUIRE(outcome);
  return outcome->holds;
}

std::string slip(const std::string& text) {
  const auto claim = parse_claim(text);
  REQUIRE_FALSE(claim);
  return claim.error().message + " at " + std::to_string(claim.error().offset);
}

std::string problem(const std::string& text) {
  const auto claim = parse_claim(text);
  REQUIRE(claim);
  const auto outcome = evaluate(*claim, {}, leaves);
  REQUIRE_FALSE(outcome);
  return outcome.error().front().message;
}

}  // namespace

TEST_CASE("claims compare sums of functions and numbers with units") {
  CHECK(holds("2 + 3 * 4 == 14"));
  CHECK(holds("(2 + 3) * 4 - -1 == 21"));
  CHECK(holds("1 GB/s == 1000 MB/s"));
  CHECK(holds("8 GB / 2 == 4 GB"));
  CHECK(holds("size(gpus=4) < size and size == 8"));
  CHECK(holds("1 < size(gpus=2) <= 2"));
  CHECK_FALSE(holds("1 < size(gpus=2) < 2"));
  CHECK(holds("max(list) == 4 and min(list(), 0.5) == 0.5 and mean(list) * 3 == 7"));
  CHECK(holds("kind() == 'GDDR5'"));
  CHECK_FALSE(holds("kind() == 'GDDR6'"));
}

TEST_CASE("a comparison of several values holds for all of them") {
  CHECK(holds("list >= 1"));
  CHECK_FALSE(holds("list > 1"));
  CHECK(holds("list * 2 / list == 2"));
}

TEST_CASE("a tolerance is a share of the right side or an amount, and its edge is allowed") {
  CHECK(holds("110 == 100 within 10 %"));
  CHECK_FALSE(holds("110.1 == 100 within 10 %"));
  CHECK(holds("1.05 == 1 within 0.05"));
  CHECK(holds("1.5 == 1 within 100 %"));
  CHECK(holds("104 MB < 0.1 GB within 4 MB"));
  CHECK_FALSE(holds("105 MB < 0.1 GB within 4 MB"));
  CHECK_FALSE(holds("1 < 1"));
}

TEST_CASE("a wrong claim says where and what was expected") {
  CHECK(slip("throughput") == "expected a comparison: <, <=, >, >= or ==, got the end at 10");
  CHECK(slip("1 < ") == "expected a number or a function, got the end at 4");
  CHECK(slip("1 < 2 3") == "expected \"and\", \"within\" or the end, got \"3\" at 6");
  CHECK(slip("a(gpus) < 1") == "expected \"=\" after gpus, got \")\" at 6");
  CHECK(slip("max(1, 2 < 1") == "expected \",\" or \")\", got \"<\" at 9");
  CHECK(slip("1 < 3 parsecs") == "expected a unit such as \"GB\" or an operator, got \"parsecs\" at 6");
  CHECK(slip("1e999 > 1") == "expected a number within the range of a double, got \"1e999\" at 0");
  CHECK(slip("1 == 2 within 1e300 %") == "expected a tolerance of at most 100 %, got \"1e300 %\" at 14");
  CHECK(slip("1 == 2 within 100.1 %") == "expected a tolerance of at most 100 %, got \"100.1 %\" at 14");
  CHECK(slip("1 < 2 within lots") == "expected a tolerance such as \"10 %\", got \"lots\" at 13");
  CHECK(slip("a == 'b") == "expected a closing quote, got \"'b\" at 5");
}

TEST_CASE("what cannot be evaluated says why") {
  CHECK(problem("nothing() > 1") == "no leaf nothing");
  CHECK(problem("kind > 1") == "texts can only be compared with ==");
  CHECK(problem("kind + 1 > 1") == "a text takes no part in arithmetic");
}

TEST_CASE("a value that is infinite or no number never lets a claim hold") {
  CHECK(problem("endless() > 1") == "endless is infinite");
  CHECK(problem("min(endless()) >= 1") == "endless is infinite");
  CHECK(problem("1 < endless() and 1 < 2") == "endless is infinite");
  CHECK(problem("nothing_at_all() < 1") == "nothing_at_all is not a number");
  CHECK(problem("0 / 0 > 1") == "0 / 0 is not a number");
  CHECK(problem("1 / (2 - 2) > 1") == "1 / 0 is infinite");
  CHECK(problem("1e308 * 10 > 1") == "1e+308 * 10 is infinite");
  CHECK(problem("mean(1e308, 1e308) > 1") == "a mean is infinite");
  CHECK(problem("1e308 > 1e-308 - 2e-308") == "1e+308 against -1e-308 leaves the range of numbers");
}

TEST_CASE("what a claim proves: look-ups are told apart, and what a fit saw or cannot fail is not counted") {
  const auto read = [](const std::string& claims) {
    return parse_scenario("schema = 1\n[study]\nname = \"n\"\nsource = \"assumed: test\"\n" + claims, "s.toml");
  };
  const auto scenario = read(R"toml(
[[claim]]
id = "predicted"
expr = "size(gpus=3) == 3"
[[claim]]
id = "read"
expr = "size(name=p4000) == 1"
[[claim]]
id = "read and wrong"
expr = "size(name=p4000) == 2"
use = "lookup"
[[claim]]
id = "seen"
expr = "size(gpus=3) == 4"
use = "fit"
[[claim]]
id = "can hardly fail"
expr = "size(gpus=3) > 0"
use = "trivial"
[[claim]]
id = "nobody published it"
expr = "size(gpus=3) == 3"
use = "control"
[[claim]]
id = "read and predicted"
expr = "size(name=p4000) < size(gpus=8)"
)toml");
  INFO((scenario ? "" : to_text(scenario.error())));
  REQUIRE(scenario);
  CHECK(scenario->claims.at(1).use == ClaimUse::lookup);
  CHECK(scenario->claims.at(6).use == ClaimUse::validation);
  const std::vector<AssessedClaim> claims = assess_claims(*scenario, leaves);
  CHECK(count_text(count(claims)) == "3 of 4 claims hold; 3 fit, trivial or own controls not counted; of the 4, 2 are look-ups");
  CHECK(failing_text(count(claims)) == "1 of 4 claims fail, and 1 of 3 not counted claims fail");
  CHECK(count_text(count({claims.begin(), claims.begin() + 2})) == "2 of 2 claims hold; of the 2, 1 is a look-up");
  CHECK(failing_text(count({claims.begin(), claims.begin() + 2})).empty());

  const auto wrong = read(
      "[[claim]]\nid = \"a\"\nexpr = \"size(gpus=8) == 8\"\nuse = \"lookup\"\n"
      "[[claim]]\nid = \"b\"\nexpr = \"size(name=p4000) == 1\"\nuse = \"validation\"\n");
  REQUIRE_FALSE(wrong);
  CHECK(to_text(wrong.error()) ==
        "s.toml:8:7: claim[0].use: expected validation: a function is predicted, so this is no look-up, got \"lookup\"\n"
        "   8 | use = \"lookup\"\n     |       ^~~~~~~~\n"
        "s.toml:12:7: claim[1].use: expected lookup: every function reads a value of the catalogue (name=...), got "
        "\"validation\"\n"
        "  12 | use = \"validation\"\n     |       ^~~~~~~~~~~~\n");
}

TEST_CASE("scenarios: a grid is one evaluation per point, and a mistake has its place") {
  const auto scenario = parse_scenario(R"(schema = 1
[study]
name = "n"
source = "assumed: test"
[grid]
gpus = [2, 4, 8]
batch = 16
[[claim]]
id = "a"
expr = "size() < 8"
[[claim]]
id = "b"
expr = "size(gpus=3) == 3.3"
tolerance = "10 %"
use = "fit"
)",
                                       "s.toml");
  INFO((scenario ? "" : to_text(scenario.error())));
  REQUIRE(scenario);
  const std::vector<AssessedClaim> claims = assess_claims(*scenario, leaves);
  CHECK(claims.at(0).points == 3);
  CHECK(claims.at(0).failing == 1);
  CHECK(claims.at(0).point == "gpus=8");
  CHECK_FALSE(claims.at(0).outcome.holds);
  CHECK(claims.at(1).points == 1);
  CHECK(claims.at(1).outcome.holds);
  const auto wrong = parse_scenario(R"(schema = 1
[study]
name = "n"
source = "assumed: test"
[[claim]]
id = "a"
expr = "size() < < 8"
use = "sometimes"
)",
                                    "s.toml");
  REQUIRE_FALSE(wrong);
  CHECK(to_text(wrong.error()) ==
        "s.toml:8:7: claim[0].use: expected validation, lookup, fit, trivial or control, got \"sometimes\"\n"
        "   8 | use = \"sometimes\"\n     |       ^~~~~~~~~~~\n"
        "s.toml:7:18: claim: expected a number or a function, got \"<\"\n"
        "   7 | expr = \"size() < < 8\"\n     |                  ^\n");
}

TEST_CASE("claims and grids take only options that change a prediction, and values that are no options") {
  const auto messages = [](const std::string& expr, const std::string& grid) {
    const auto scenario = parse_scenario("schema = 1\n[study]\nname = \"n\"\nsource = \"assumed: test\"\n[grid]\n" + grid +
                                             "\n[[claim]]\nid = \"a\"\nexpr = \"" + expr + "\"\n",
                                         "folder/s.toml");
    std::string text;
    if (!scenario)
      for (const Error& error : scenario.error()) text += error.message + "\n";
    return text;
  };
  CHECK(messages("size(gpus=2, seq_len=3) > 0", "batch = 2").empty());
  CHECK(messages("size(trace='victim.txt') > 0", "") ==
        "claim[0].expr: option \"trace\": claims and grids take only options that change a prediction\n");
  CHECK(messages("size() > 0", "report = \"victim.txt\"") ==
        "grid.report: claims and grids take only options that change a prediction\n");
  CHECK(messages("size() > 0", "bacth = 2") ==
        "grid.bacth: claims and grids take only options that change a prediction, did you mean \"batch\"?\n");
  CHECK(messages("size(layers='--trace=x') > 0", "") ==
        "claim[0].expr: option \"layers\": expected a value, got \"--trace=x\"\n");
  CHECK(messages("size() > 0", "route = \"gpu0 --trace=x\"") == "grid.route: expected a value, got \"gpu0 --trace=x\"\n");
}

TEST_CASE("a grid asks for no part of a prediction that none of its claims reads") {
  const auto messages = [](const std::string& expr, const std::string& grid) {
    const auto scenario = parse_scenario("schema = 1\n[study]\nname = \"n\"\nsource = \"assumed: test\"\n[grid]\n" + grid +
                                             "\n[[claim]]\nid = \"a\"\nexpr = \"" + expr + "\"\n",
                                         "folder/s.toml");
    return scenario ? std::string() : scenario.error().front().message;
  };
  CHECK(messages("throughput() > 0", "kernels = true") ==
        "grid.kernels: changes no prediction: it asks for kernels.*, which no claim here names; leave it out");
  CHECK(messages("throughput() > 0", "links = true") ==
        "grid.links: changes no prediction: it asks for links.*, which no claim here names; leave it out");
  CHECK(messages("kernels.time_s() > 0", "kernels = true").empty());
  CHECK(messages("max(predict.links.bytes()) > 0", "links = true").empty());
  CHECK(messages("throughput() > 0", "mock_loader = true").empty());
}

TEST_CASE("a claim that cannot be evaluated for a file names it") {
  const auto scenario = parse_scenario(
      "schema = 1\n[study]\nname = \"n\"\nsource = \"assumed: test\"\n[[claim]]\nid = \"a\"\nexpr = \"size() > 0\"\n", "s.toml");
  REQUIRE(scenario);
  const auto assessed = assess_claims(*scenario, [](const std::string&, const auto&, const auto&) -> Result<LeafValues> {
    return tl::make_unexpected(Errors{Error{"not valid TOML", {"victim.txt", 1, 3}, "a b", 1}});
  });
  CHECK(assessed.front().problem == "victim.txt:1:3: not valid TOML");
}

TEST_CASE("files that a scenario names lie beside it, an option has one spelling") {
  const auto scenario = parse_scenario(
      "schema = 1\n[study]\nname = \"n\"\nsource = \"assumed: test\"\n[grid]\nmodel = \"nets/a.toml\"\nseq_len = 4\n"
      "[[claim]]\nid = \"a\"\nexpr = \"size(hw=boxes/b.toml, seq_len=3) > 0\"\n",
      "folder/s.toml");
  REQUIRE(scenario);
  const Claim& claim = scenario->claims.front();
  CHECK(claim.grid.at(0).values.front() == "folder/nets/a.toml");
  CHECK(claim.grid.at(1).option == "seq-len");
  for (const ClaimNode& node : claim.expression.nodes)
    if (node.kind == ClaimNode::Kind::leaf) CHECK(node.options.front().second == "folder/boxes/b.toml");
}
