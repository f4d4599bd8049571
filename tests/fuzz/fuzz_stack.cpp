// Any bytes as a stack file and as the file of kernel constants.
#include "model/hardware/kernel_constants.hpp"
#include "model/stack/stack.hpp"
#include "tests/architectures.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::bytes(data, size);
  auto one = TomlFile::parse(text, "fuzz.toml"), other = TomlFile::parse(text, "fuzz.toml");
  if (!one || !other) return 0;
  const auto stack = read_stack(std::move(*one));
  if (!stack) fuzz::require_good(stack.error());
  if (stack) fuzz::require(!stack->convolution.forward.empty(), "an accepted stack offers an algorithm");
  const auto constants = read_kernel_constants(std::move(*other), all_architectures());
  if (!constants) fuzz::require_good(constants.error());
  return 0;
}
