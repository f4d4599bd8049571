#pragma once
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

namespace tbdsim {

/// What a program says where its memory is exhausted.
inline constexpr const char* kOutOfMemory =
    "out of memory: the job, a file or a list of values takes more than this process may have";

/// What a program says of an exception that nothing caught.
inline const char* words_of(const std::exception& exception) {
  return dynamic_cast<const std::bad_alloc*>(&exception) != nullptr ? kOutOfMemory : exception.what();
}

/// Makes memory that is exhausted on a thread of a parallel loop, which no caller can catch, end the program with a message and
/// exit code 2 as well, not with an abort.
inline void report_exhausted_threads() {
  static const std::terminate_handler before = std::get_terminate();  // tells every other exception
  std::set_terminate([] {
    if (const std::exception_ptr thrown = std::current_exception()) {
      try {
        std::rethrow_exception(thrown);
      } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "tbdsim: %s\n", kOutOfMemory);
        std::_Exit(2);
      } catch (...) {}
    }
    before();
  });
}

}  // namespace tbdsim
