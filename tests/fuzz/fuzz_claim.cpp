// Any bytes as a claim; one that reads is evaluated over made-up leaves.
#include "model/validation/claim_evaluate.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::bytes(data, size);
  const auto claim = parse_claim(text);
  if (!claim) {
    fuzz::require(!claim.error().message.empty() && claim.error().offset <= text.size(), "a refused claim has a place");
    return 0;
  }
  fuzz::require(!claim->comparisons.empty(), "a claim compares");
  const LeafSource two = [](const std::string& name, const std::vector<ClaimOption>&, const std::vector<ClaimOption>&) {
    return Result<LeafValues>(LeafValues{{1.0, static_cast<double>(name.size())}, {}});
  };
  const auto outcome = evaluate(*claim, {}, two);
  fuzz::require(outcome || !outcome.error().empty(), "a claim without outcome has an error");
  return 0;
}
