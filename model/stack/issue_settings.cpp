#include "model/stack/issue_settings.hpp"

#include <string_view>

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, kIssueClasses> kNames{"view",       "elementwise", "dropout", "row_norm",
                                                             "batch_norm", "convolution", "product", "attention"};

std::array<Seconds, kIssueClasses> read_classes(TomlTable table) {
  std::array<Seconds, kIssueClasses> times{};
  for (std::size_t i = 0; i < kIssueClasses; ++i) times[i] = table.quantity<Seconds>(kNames[i]);
  table.finish();
  return times;
}

}  // namespace

IssueSettings read_issue_settings(TomlTable table) {
  IssueSettings settings;
  settings.forward = read_classes(table.table("forward"));
  settings.backward = read_classes(table.table("backward"));
  settings.module = table.quantity<Seconds>("module", kNotNegative);
  settings.kernel = table.quantity<Seconds>("kernel", kNotNegative);
  settings.convolution = table.quantity<Seconds>("convolution", kNotNegative);
  settings.batch_norm = table.quantity<Seconds>("batch_norm", kNotNegative);
  settings.product = table.quantity<Seconds>("product", kNotNegative);
  settings.cast = table.quantity<Seconds>("cast", kNotNegative);
  settings.update = table.quantity<Seconds>("update");
  settings.listed = table.quantity<Seconds>("listed", kNotNegative);
  settings.replica = table.quantity<Seconds>("replica", kNotNegative);
  (void)table.text("source");
  table.finish();
  return settings;
}

}  // namespace tbdsim
