#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/hardware/cluster.hpp"

namespace tbdsim {

/// What one rented instance costs, or what a board, machine or host is sold for; a row of hardware/prices/*.toml or of a list of
/// the user's own.
struct Price {
  std::string provider, instance;
  std::optional<std::string> device;  ///< catalogue id; absent where the catalogue lacks the GPU or the price is the host's
  std::optional<int> gpus;
  std::string system, host;  ///< catalogue id of the machine or host that the row is about; empty: neither
  std::string kind;          ///< a kind of `rent_kinds`, "purchase", or that of a machine without its GPUs: "on_demand_host_only"
  UsdPerSecond rent;         ///< of the whole instance; zero for what is sold
  std::optional<Usd> price;  ///< of one
  bool own = false;          ///< of the user's own list
  std::string snapshot;      ///< when the price was seen
  std::string source, notes;
};

/// How whole machines with their GPUs are let: what `rent` of a system file may ask for instead of stating an amount.
[[nodiscard]] const std::vector<std::string>& rent_kinds();

/// All prices, those of the user's own list first, then by provider id and in file order. Errors: every problem of every file.
[[nodiscard]] Result<std::vector<Price>> load_prices(const Catalogue& catalogue);

/// A price, and how many of its instances it takes.
struct Instances {
  Price price;
  int count = 1;
};

/// What a node with `gpus` of `device` costs least as whole instances of `kind`: one with at least so many GPUs, or, where none
/// has so many, several; the first of equals. Where the user's own list has any, no others. Snapshots of different years are
/// compared as they stand. Absent when no row fits.
[[nodiscard]] std::optional<Instances> cheapest_instances(const std::vector<Price>& prices, const std::string& device,
                                                          const std::string& kind, int gpus);

/// The system with prices and rents of the user's own list in place of its own. What `--set` gave stays.
[[nodiscard]] System with_own_prices(System system, const std::vector<Price>& prices);

}  // namespace tbdsim
