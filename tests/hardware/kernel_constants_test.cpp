// Constants that a fit drove far outside their physics are refused when they are read, with the reason of their bounds.
#include "model/hardware/kernel_constants.hpp"

#include <string>

#include "model/input/toml_reader.hpp"
#include "tests/architectures.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

/// What is said of the committed constants with the first `old_line` replaced; empty: nothing.
std::string said_of(const std::string& old_line, const std::string& line) {
  auto committed = TomlFile::open(std::string(TBDSIM_SOURCE_DIR) + "/hardware/kernels.toml");
  REQUIRE(committed);
  std::string text = committed->text();
  const std::size_t at = text.find('\n' + old_line + '\n');
  REQUIRE(at != std::string::npos);
  text.replace(at + 1, old_line.size(), line);
  auto changed = TomlFile::parse(std::move(text), "kernels.toml");
  REQUIRE(changed);
  const auto constants = read_kernel_constants(std::move(*changed), all_architectures());
  return constants ? "" : constants.error().front().message;
}

}  // namespace

TEST_CASE("a constant far outside its physics is refused with its bounds and their reason, one on its bound is not") {
  const std::string on_its_bound = "transpose_penalty = 16";
  CHECK(said_of(on_its_bound, on_its_bound).empty());
  CHECK(said_of(on_its_bound, "transpose_penalty = 25.23") ==
        "gemm.fp32-cudnn5-maxwell.transpose_penalty: 25.23 lies outside 0.1 to 16: turning an element takes one access to shared "
        "memory, the place of four multiply-adds, at four times that in a bank conflict");
  CHECK(said_of(on_its_bound, "transpose_penalty = 0.05").find("0.05 lies outside 0.1 to 16") != std::string::npos);
  CHECK(said_of("prologue_depth = 256", "prologue_depth = 257").find("257 lies outside") != std::string::npos);
}
