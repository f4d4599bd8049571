#pragma once
#include <string>
#include <utility>
#include <vector>

#include "model/schedule/resource.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// A named change of a configuration: values as `--set` takes them. A key that ends in `?` is passed over where no file
/// states it.
struct WhatIf {
  std::string name, text;
  std::vector<std::string> set;
  /// What other hardware relieves; empty: a setting or software, which is tried on any job.
  std::vector<Resource> relieves{};
  bool narrows = false;        ///< of jobs in 32 bits
  bool loads_as_well = false;  ///< its processes bring loaders of their own: no answer to a job that waits for its loader
  [[nodiscard]] bool hardware() const { return !relieves.empty(); }
};

/// Every named change, in the order of documentation.
[[nodiscard]] const std::vector<WhatIf>& what_ifs();

/// The change of a name. Errors: unknown, with the nearest.
[[nodiscard]] Result<WhatIf> find_what_if(const std::string& name);

/// Whether `assignment` is all that a named change sets.
[[nodiscard]] bool is_named_change(const std::string& assignment);

/// Why `assignment` cannot follow those of `set`; empty: it can. One that sets another value than an earlier one, or undoes its
/// factor, would make that one say nothing. Keys are compared as they are written; equal assignments and factors that add up are
/// fine.
[[nodiscard]] std::string contradiction(const std::vector<std::string>& set, const std::string& assignment);

}  // namespace tbdsim
