// The choice among all hardware that has a price.
#include "model/study/market.hpp"

#include <algorithm>

#include "model/configuration/session.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

std::shared_ptr<Session> session() { return open_session(Catalogue{TBDSIM_SOURCE_DIR}); }

StudyGrid grid(std::vector<std::string> hardware, std::vector<std::string> gpus, const std::string& model) {
  return {{{"hw", std::move(hardware)}, {"gpus", std::move(gpus)}, {"model", {model}}, {"precision", {"bf16"}}, {"batch", {"1"}}},
          {}};
}

}  // namespace

TEST_CASE("all hardware is the boards that have a price and the machines that have a price or a rent") {
  const std::vector<std::string> all = priced_hardware(*session());
  const auto has = [&](const char* id) { return std::find(all.begin(), all.end(), id) != all.end(); };
  CHECK(has("rtx-4090"));
  CHECK(has("dgx-h100"));
  CHECK(has("aws-p4d.24xlarge"));
  CHECK_FALSE(has("h100-nvl"));
}

TEST_CASE("the best of many candidates fit, are affordable, use whole machines and stand in their order") {
  const auto opened = session();
  const StudyGrid asked = grid({"rtx-4090", "rtx-5090", "dgx-a100-80gb"}, {"1", "2", "8"}, "resnet50");
  auto candidates = candidates_of(*opened, asked);
  REQUIRE(candidates);
  CostTerms terms;
  terms.budget = Usd(20'000.0);
  const MarketChoice choice = best_of(*opened, std::move(*candidates), terms, 2);
  CHECK(choice.tried == 7);  // of the DGX all 8 GPUs alone
  CHECK(choice.too_large == 0);
  CHECK(choice.affordable == 6);  // all but the DGX
  REQUIRE(choice.comparison.candidates.size() == 2);
  const auto cost = [&](std::size_t i) {
    return ownership(choice.comparison.candidates[i].prediction, terms, PaidBy::purchase)->sample.base();
  };
  CHECK(cost(0) <= cost(1));
  CHECK(choice.comparison.candidates[1].base == 0);
  CHECK(choice.kept.size() == 2);
}

TEST_CASE("of several networks each has its own best, and one that fits nowhere is named") {
  const auto opened = session();
  StudyGrid asked = grid({"rtx-4090", "rtx-5090"}, {"1", "2"}, "resnet50");
  asked.axes[2].values = {"resnet50", "alexnet", "llama-2-7b"};
  auto candidates = candidates_of(*opened, asked);
  REQUIRE(candidates);
  CostTerms terms;
  terms.budget = Usd(40'000.0);
  const MarketChoice choice = best_of(*opened, std::move(*candidates), terms, 2);
  REQUIRE(choice.comparison.candidates.size() == 4);
  std::vector<std::string> networks;
  for (const Candidate& candidate : choice.comparison.candidates) networks.push_back(candidate.prediction.job.model);
  CHECK(networks == std::vector<std::string>{"resnet50", "resnet50", "alexnet", "alexnet"});
  CHECK(choice.comparison.candidates[3].base == 2);
  CHECK(choice.left_out == std::vector<std::string>{"llama-2-7b"});
}

TEST_CASE("where a language model fits nowhere as asked, the options are named with which it does") {
  const auto opened = session();
  const StudyGrid asked = grid({"rtx-4090"}, {"1", "4"}, "llama-2-7b");
  const auto candidates = candidates_of(*opened, asked);
  REQUIRE(candidates);
  CHECK(what_would_fit(*opened, asked, *candidates) ==
        "the job fits on none of them as asked; with --zero 3 --recompute layer it fits on 1 of 2, such as 4 GPUs of rtx-4090");
  const StudyGrid small = grid({"rtx-4090"}, {"1", "4"}, "resnet50");
  CHECK(what_would_fit(*opened, small, *candidates_of(*opened, small)).empty());
}
