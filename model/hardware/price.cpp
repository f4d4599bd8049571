#include "model/hardware/price.hpp"

#include "model/hardware/hardware_file.hpp"
#include "model/hardware/lookup.hpp"

namespace tbdsim {
namespace {

constexpr std::int64_t kMostGpus = 100'000;  // of one instance; catches a slip of digits

constexpr std::string_view kPurchase = "purchase";

/// What the row is about: a GPU, a machine or a host.
void read_subject(TomlTable& table, Price& price) {
  if (table.has("device")) price.device = table.text("device");
  if (table.has("gpus")) price.gpus = static_cast<int>(table.integer("gpus", 1, kMostGpus));
  price.system = table.text_or("system", "");
  price.host = table.text_or("host", "");
  if (price.device.has_value() + !price.system.empty() + !price.host.empty() > 1)
    table.problem("", "a row is about one of `device`, `system` and `host`");
}

Price read_price(TomlTable table, const std::string& provider) {
  Price price;
  price.provider = provider;
  read_subject(table, price);
  for (const char* told : {"gpu", "region"}) table.mark(told);  // for readers of the file
  const bool sold = table.has("price");
  if (sold && table.has("rent")) table.problem("rent", "a row has a `price` or a `rent`");
  if (sold) {
    price.price = table.quantity<Usd>("price");
    price.kind = table.text_or("kind", kPurchase);
    if (price.kind != kPurchase) table.problem("kind", "expected \"purchase\" beside a `price`");
    if (!price.device && price.system.empty() && price.host.empty())
      table.problem("price", "of what? Name it: `device`, `system` or `host`");
    table.mark("instance");
    table.mark("rent");
  } else {
    price.rent = table.quantity<UsdPerSecond>("rent");
    price.kind = price.system.empty() ? table.text("kind") : table.text_or("kind", "on_demand");
    price.instance = price.system.empty() ? table.text("instance") : table.text_or("instance", price.system);
  }
  price.snapshot = table.text("snapshot");
  price.source = table.text("source");
  price.notes = table.text_or("notes", "");
  return price;
}

Result<std::vector<Price>> read_file_of_prices(const std::string& path) {
  auto file = TomlFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  TomlTable root = file->root();
  (void)root.integer("schema", kHardwareSchema, kHardwareSchema);
  const std::string provider = root.text("provider");
  std::vector<Price> prices;
  for (const TomlTable& table : root.tables_or_empty("price")) prices.push_back(read_price(table, provider));
  root.finish();
  if (!file->errors().empty()) return tl::make_unexpected(file->errors());
  return prices;
}

}  // namespace

const std::vector<std::string>& rent_kinds() {
  static const std::vector<std::string> kKinds{"on_demand", "spot", "spot_min", "spot_max", "capacity_block"};
  return kKinds;
}

Result<std::vector<Price>> load_prices(const Catalogue& catalogue) {
  const std::string folder = "prices";
  std::vector<Price> all;
  Errors errors;
  const auto add = [&](const std::string& path, bool own) {
    auto prices = read_file_of_prices(path);
    if (!prices) return static_cast<void>(errors.insert(errors.end(), prices.error().begin(), prices.error().end()));
    for (Price& price : *prices) price.own = own;
    all.insert(all.end(), prices->begin(), prices->end());
  };
  if (!catalogue.own_prices.empty()) add(catalogue.own_prices, true);
  for (const std::string& id : catalogue_ids(catalogue, folder)) add(catalogue_path(catalogue, folder, id), false);
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  return all;
}

std::optional<Instances> cheapest_instances(const std::vector<Price>& prices, const std::string& device, const std::string& kind,
                                            int gpus) {
  const Price* best = nullptr;
  const auto count = [&](const Price& price) { return (gpus + *price.gpus - 1) / *price.gpus; };
  // One machine before several, which no wires join.
  const auto rank = [&](const Price& price) { return std::pair(count(price) > 1, count(price) * price.rent); };
  for (const Price& price : prices) {
    if (price.device != device || price.kind != kind || !price.gpus || *price.gpus < 1) continue;
    if (best != nullptr && best->own && !price.own) break;  // the user's own come first
    if (best == nullptr || rank(price) < rank(*best)) best = &price;
  }
  return best == nullptr ? std::nullopt : std::optional(Instances{*best, count(*best)});
}

System with_own_prices(System system, const std::vector<Price>& prices) {
  const bool set = system.price_of == kAssignments;
  for (const Price& price : prices) {
    if (!price.own) break;
    if (price.system == system.id && !set) {
      if (price.price) system.price = price.price;
      if (!price.price) system.rent = price.rent;
      system.price_date = price.snapshot;
      system.price_source = price.source;
    } else if (price.price && price.device == system.device.id && !system.device.own_price) {
      system.device.launch_price = price.price;
      system.device.launch_price_date = price.snapshot;
      system.device.launch_price_source = price.source;
    } else if (price.price && price.host == system.host.id) {
      system.host.price = price.price;
      system.host.price_date = price.snapshot;
      system.host.price_source = price.source;
    }
  }
  return system;
}

}  // namespace tbdsim
