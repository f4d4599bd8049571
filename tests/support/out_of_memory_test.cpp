#include "model/support/out_of_memory.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/catch.hpp"

namespace {

struct Ending {
  int code = -1;  ///< -1: ended by a signal
  std::string told;
};

/// How a process ends one of whose threads throws what nobody catches.
template <class Exception>
Ending ending_of(const Exception& exception) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    tbdsim::report_exhausted_threads();
    std::thread([&] { throw exception; }).join();
    _exit(0);
  }
  close(ends[1]);
  Ending ending;
  std::array<char, 256> part{};
  for (ssize_t n = 0; (n = read(ends[0], part.data(), part.size())) > 0;)
    ending.told.append(part.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (WIFEXITED(status)) ending.code = WEXITSTATUS(status);
  return ending;
}

}  // namespace

TEST_CASE("exhausted memory is told in words, other exceptions as they say", "[support]") {
  CHECK(std::string(tbdsim::words_of(std::bad_alloc())) == tbdsim::kOutOfMemory);
  CHECK(std::string(tbdsim::words_of(std::runtime_error("disk on fire"))) == "disk on fire");
}

TEST_CASE("exhausted memory on a thread ends a process with a message and exit code 2, another exception with its own words",
          "[support]") {
  const Ending exhausted = ending_of(std::bad_alloc());
  CHECK(exhausted.code == 2);
  CHECK(exhausted.told == std::string("tbdsim: ") + tbdsim::kOutOfMemory + "\n");
  const Ending other = ending_of(std::runtime_error("disk on fire"));
  CHECK(other.code == -1);
  CHECK(other.told.find("disk on fire") != std::string::npos);
}
