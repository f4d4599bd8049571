#pragma once
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace tbdsim::reference {

using Row = std::map<std::string, std::string>;

/// Rows of tests/data/networks/NAME; those files quote nothing.
inline std::vector<Row> read(const std::string& name) {
  std::ifstream in(std::string(TBDSIM_SOURCE_DIR) + "/tests/data/networks/" + name);
  REQUIRE(in);
  const auto split = [](const std::string& line) {
    std::vector<std::string> cells(1);
    for (const char c : line)
      if (c == ',') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    return cells;
  };
  std::string line;
  REQUIRE(std::getline(in, line));
  const std::vector<std::string> columns = split(line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = split(line);
    REQUIRE(cells.size() == columns.size());
    Row row;
    for (std::size_t i = 0; i < cells.size(); ++i) row[columns[i]] = cells[i];
    rows.push_back(row);
  }
  return rows;
}

}  // namespace tbdsim::reference
