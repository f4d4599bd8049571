#include "model/report/thinned_pages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/report/json.hpp"
#include "model/study/sweep_front.hpp"
#include "model/support/version.hpp"

namespace tbdsim {

Result<std::string> sweep_page_data(const SweepStore& store) {
  constexpr std::int64_t kMostRows = 2000;
  const std::int64_t all = store.rows(), step = std::max<std::int64_t>(1, (all + kMostRows - 1) / kMostRows);
  const auto front = sweep_front(store);
  if (!front) return tl::make_unexpected(front.error());
  std::string rows, marks;
  std::int64_t number = 0;
  const auto read = store.each([&](const SweepRow& row) {
    const bool on_front = (*front)[static_cast<std::size_t>(number)];
    if (number++ % step != 0 && !on_front) return;
    rows += (rows.empty() ? "" : ",\n") + sweep_row_json(row, config_pairs(row.config));
    marks += fmt::format("{}{}", marks.empty() ? "" : ",", on_front);
  });
  if (!read) return tl::make_unexpected(read.error());
  return fmt::format(R"({{"tool":{{"name":"tbdsim","version":"{}"}},"of":{},"points":{},"front":[{}],"rows":[{}]}})", version(),
                     all, store.points(), marks, rows);
}

std::string validate_page_data(const Accuracy& accuracy, const std::vector<AssessedClaim>& claims) {
  constexpr std::size_t kMostRows = 2500;
  const std::size_t all = accuracy.rows.size(), step = std::max<std::size_t>(1, (all + kMostRows - 1) / kMostRows);
  Accuracy shown = accuracy;
  shown.rows.clear();
  std::size_t numbers[2] = {0, 0};  // of rows that validate, of rows that fit
  for (const RowAccuracy& row : accuracy.rows)
    if (numbers[row.fit ? 1 : 0]++ % step == 0) shown.rows.push_back(row);
  return fmt::format(R"({{"of":{},"accuracy":{}}})", all, accuracy_json(shown, claims));
}

}  // namespace tbdsim
