#pragma once
#include <compare>
#include <string>
#include <string_view>

#include "model/support/result.hpp"

namespace tbdsim {

/// A release of NCCL.
struct NcclVersion {
  int major = 2, minor = 18, patch = 0;
  auto operator<=>(const NcclVersion&) const = default;
};
/// "2.18" or "2.1.15". Errors: anything else.
[[nodiscard]] Result<NcclVersion> parse_nccl_version(std::string_view text);

/// The collective library as one release has it.
struct NcclLibrary {
  NcclVersion version;
};

/// What the catalogue says of a release. An empty version is the newest that most published sweeps used, 2.12.
/// Errors: not a version; all problems of the file.
[[nodiscard]] Result<NcclLibrary> load_nccl(const std::string& catalogue_root, const std::string& version);

}  // namespace tbdsim
