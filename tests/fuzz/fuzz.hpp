#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "model/support/quote.hpp"
#include "model/support/result.hpp"

/// What libFuzzer and run_corpus.cpp call with each input. Returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tbdsim::fuzz {

[[nodiscard]] inline std::string bytes(const std::uint8_t* data, std::size_t size) {
  return std::string(reinterpret_cast<const char*>(data), size);
}

/// What must hold whatever the input is; otherwise the run ends there, as at a crash.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

/// Errors are in the order of the file, and their text can be printed: valid UTF-8, no control characters.
inline void require_good(const Errors& errors) {
  for (std::size_t i = 0; i < errors.size(); ++i) {
    require(!errors[i].message.empty(), "an error has a message");
    const std::string message = errors[i].text();
    for (std::string_view rest = message; !rest.empty(); rest.remove_prefix(utf8_length(rest))) {
      const auto first = static_cast<unsigned char>(rest.front());
      require(utf8_length(rest) > 0, "the text of an error is UTF-8");
      require(first >= 0x20 || first == '\n' || first == '\t', "the text of an error has no control characters");
    }
    if (i == 0 || errors[i].where.line == 0) continue;
    const SourceRef &before = errors[i - 1].where, &here = errors[i].where;
    require(before.line < here.line || (before.line == here.line && before.column <= here.column), "errors are sorted");
  }
}

}  // namespace tbdsim::fuzz
