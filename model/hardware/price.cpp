#include "model/hardware/price.hpp"

#include "model/hardware/hardware_file.hpp"
#include "model/hardware/lookup.hpp"

namespace tbdsim {
namespace {

constexpr std::int64_t kMostGpus = 100'000;  // of one instance; catches a slip of digits

Price read_price(TomlTable table, const std::string& provider) {
  Price price;
  price.provider = provider;
  price.instance = table.text("instance");
  if (table.has("device")) price.device = table.text("device");
  if (table.has("gpus")) price.gpus = static_cast<int>(table.integer("gpus", 1, kMostGpus));
  for (const char* told : {"gpu", "region"}) table.mark(told);  // for readers of the file
  price.kind = table.text("kind");
  price.rent = table.quantity<UsdPerSecond>("rent");
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
  for (const std::string& id : catalogue_ids(catalogue, folder)) {
    const auto prices = read_file_of_prices(catalogue_path(catalogue, folder, id));
    if (prices) {
      all.insert(all.end(), prices->begin(), prices->end());
    } else {
      errors.insert(errors.end(), prices.error().begin(), prices.error().end());
    }
  }
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
    if (best == nullptr || rank(price) < rank(*best)) best = &price;
  }
  return best == nullptr ? std::nullopt : std::optional(Instances{*best, count(*best)});
}

}  // namespace tbdsim
