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

TEST_CASE("the catalogue's library: releases in order, every fabric, defaults by architecture") {
  const NcclLibrary usual = load_nccl(TBDSIM_SOURCE_DIR, "").value();
  CHECK(usual.version == NcclVersion{2, 12, 0});
  CHECK(usual.release.from == NcclVersion{2, 10, 0});
  CHECK(load_nccl(TBDSIM_SOURCE_DIR, "", "Hopper").value().release.nvls);
  CHECK(load_nccl(TBDSIM_SOURCE_DIR, "2.12", "Hopper").value().version == NcclVersion{2, 12, 0});
  CHECK_FALSE(load_nccl(TBDSIM_SOURCE_DIR, "2.1.15").value().release.tree);
  CHECK(load_nccl(TBDSIM_SOURCE_DIR, "2.30.7").value().release.from == NcclVersion{2, 18, 0});
  for (const std::string none : {"99.9", "0.9", "3.0"})
    CHECK(load_nccl(TBDSIM_SOURCE_DIR, none).error().front().message == "NCCL " + none + ": there are releases from 1.0 to 2.30");
  for (const NcclFabric fabric : {NcclFabric::mesh, NcclFabric::nvswitch, NcclFabric::peer, NcclFabric::host}) {
    const NcclFabricCosts& row = costs(usual, fabric);
    CHECK(row.fabric == fabric);
    CHECK(row.base > Seconds(0.0));
    for (const Seconds hop : row.hop) CHECK(hop > Seconds(0.0));
  }
  // The range never narrows where messages are small or nodes are many.
  double before = 1.0;
  for (const double bytes : {1e3, 1e7, 1e9, 1e12}) {
    CHECK(spread(usual, 1, Bytes(bytes)) <= before);
    CHECK(spread(usual, 2, Bytes(bytes)) >= spread(usual, 1, Bytes(bytes)));
    before = spread(usual, 1, Bytes(bytes));
  }
}

TEST_CASE("mistakes in the library's file, all at once") {
  auto file = TomlFile::parse("schema = 1\ntree_share = 2\nloop = \"2 us\"\n[[release]]\nfrom = \"two\"\nhop = [\"1 us\"]\n",
                              "nccl.toml");
  const auto read = read_nccl(std::move(*file), "2.12");
  REQUIRE_FALSE(read);
  const std::string text = to_text(read.error());
  for (const char* expected :
       {"tree_share", "loop: expected a size", "release[0].from: expected an NCCL version such as 2.18 or 2.1.15, got \"two\"",
        "release[0].hop: expected 3 times, for LL, LL128 and Simple, such as \"3.6 us\"; got 1", "fabric"})
    CHECK(text.find(expected) != std::string::npos);
}
