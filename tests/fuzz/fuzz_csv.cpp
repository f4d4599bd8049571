// Any bytes as a CSV table, every cell as text and as a number.
#include "model/input/csv_reader.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto table = CsvTable::parse(fuzz::bytes(data, size), "fuzz.csv");
  if (!table) {
    fuzz::require(!table.error().empty(), "a refused file has an error");
    fuzz::require_good(table.error());
    return 0;
  }
  (void)table->column("device");
  (void)table->column("time_s");
  table->unknown_columns({"device", "time_s"});
  for (std::size_t row = 0; row < table->rows(); ++row) {
    fuzz::require(table->where(row).line > 0, "a row has a line");
    for (std::size_t column = 0; column < table->columns().size(); ++column) {
      fuzz::require(table->text(row, column).size() <= size, "a field is part of the file");
      (void)table->number(row, column);
    }
  }
  fuzz::require_good(table->errors());
  return 0;
}
