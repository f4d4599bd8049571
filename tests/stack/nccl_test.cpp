// NCCL releases as text.
#include "model/stack/nccl.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("releases of NCCL compare as numbers") {
  CHECK(parse_nccl_version("2.18").value() == NcclVersion{2, 18, 0});
  CHECK(parse_nccl_version("2.1.15").value() == NcclVersion{2, 1, 15});
  CHECK(parse_nccl_version("2.4").value() < parse_nccl_version("2.18").value());
  CHECK(parse_nccl_version("2.1").value() < parse_nccl_version("2.1.15").value());
}

TEST_CASE("what is no release of NCCL, to the letter") {
  for (const char* text : {"", "2", "2.", ".1", "2.1.2.3", "two", "2.-1", "2.1x"}) {
    INFO(text);
    const auto parsed = parse_nccl_version(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().front().message == std::string("expected an NCCL version such as 2.18 or 2.1.15, got \"") + text + "\"");
  }
}
