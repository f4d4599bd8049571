#include "model/stack/nccl.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "model/support/quote.hpp"

namespace tbdsim {

Result<NcclVersion> parse_nccl_version(std::string_view text) {
  const auto refused = [&] {
    return tl::make_unexpected(
        Errors{{fmt::format("expected an NCCL version such as 2.18 or 2.1.15, got {}", quoted(std::string(text)))}});
  };
  std::array<int, 3> parts{0, 0, 0};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    if (count == parts.size()) return refused();
    const auto [stopped, status] = std::from_chars(at, end, parts[count]);
    if (status != std::errc{} || parts[count] < 0) return refused();
    ++count;
    if (stopped == end) break;
    if (*stopped != '.') return refused();
    at = stopped + 1;
  }
  if (count < 2) return refused();
  return NcclVersion{parts[0], parts[1], parts[2]};
}

Result<NcclLibrary> load_nccl(const std::string&, const std::string& version) {
  return parse_nccl_version(version.empty() ? "2.12" : version).map([](NcclVersion parsed) { return NcclLibrary{parsed}; });
}

}  // namespace tbdsim
