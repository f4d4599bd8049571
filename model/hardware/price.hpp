#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/hardware/cluster.hpp"

namespace tbdsim {

/// What one rented instance costs; a row of hardware/prices/*.toml.
struct Price {
  std::string provider, instance;
  std::optional<std::string> device;  ///< catalogue id; absent where the catalogue lacks the GPU or the price is the host's
  std::optional<int> gpus;
  std::string kind;      ///< a kind of `rent_kinds`, or that of a machine without its GPUs: "on_demand_host_only"
  UsdPerSecond rent;     ///< of the whole instance
  std::string snapshot;  ///< when the price was seen
  std::string source, notes;
};

/// How whole machines with their GPUs are let: what `rent` of a system file may ask for instead of stating an amount.
[[nodiscard]] const std::vector<std::string>& rent_kinds();

/// All prices, by provider id and then in file order. Errors: every problem of every file.
[[nodiscard]] Result<std::vector<Price>> load_prices(const Catalogue& catalogue);

/// A price, and how many of its instances it takes.
struct Instances {
  Price price;
  int count = 1;
};

/// What a node with `gpus` of `device` costs least as whole instances of `kind`: one with at least so many GPUs, or, where none
/// has so many, several; the first of equals. Snapshots of different years are compared as they stand. Absent when no row fits.
[[nodiscard]] std::optional<Instances> cheapest_instances(const std::vector<Price>& prices, const std::string& device,
                                                          const std::string& kind, int gpus);

}  // namespace tbdsim
