#include "model/support/out_of_memory.hpp"

#include <stdexcept>
#include <string>

#include "tests/catch.hpp"

TEST_CASE("exhausted memory is told in words, other exceptions as they say", "[support]") {
  CHECK(std::string(tbdsim::words_of(std::bad_alloc())) == tbdsim::kOutOfMemory);
  CHECK(std::string(tbdsim::words_of(std::runtime_error("disk on fire"))) == "disk on fire");
}
