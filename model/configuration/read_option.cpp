#include "model/configuration/read_option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <system_error>

#include "model/input/value_list.hpp"

namespace tbdsim {
namespace {

constexpr const char* kName = "a name";
constexpr const char* kDevices = "different GPU numbers such as 0,3";
constexpr const char* kAssignment = "KEY=VALUE";
constexpr const char* kSize = "a size such as \"1 MiB\"";

std::string expected_number(const OptionRow& row, Range range) {
  if (range == Range::left_to_analysis) return "a whole number";
  return row.most < std::numeric_limits<int>::max() ? fmt::format("a whole number from {} to {}", row.least, row.most)
                                                    : fmt::format("a whole number of at least {}", row.least);
}

std::string read_name(std::string_view text, std::string& into) {
  into = text;
  return text.empty() ? kName : "";
}

std::string read_devices(std::string_view text, std::vector<int>& into, Range range) {
  into.clear();
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const auto device = whole_number(text.substr(start, comma - start), 0);
    const bool again = device && std::find(into.begin(), into.end(), *device) != into.end();
    if (!device || (again && range == Range::checked)) return kDevices;
    into.push_back(*device);
    start = comma + 1;
  }
  return "";
}

std::string read_assignment(std::string_view text, std::vector<std::string>& into, Range range) {
  const std::size_t equals = text.find('=');
  const bool whole = equals != 0 && equals != std::string_view::npos && equals + 1 < text.size();
  if (range == Range::checked && !whole) return kAssignment;
  into.emplace_back(text);
  return "";
}

std::string read_size(std::string_view text, std::optional<Bytes>& into) {
  const auto sizes = parse_size_list("", text);
  if (!sizes || sizes->size() != 1 || sizes->front() <= Bytes(0.0)) return kSize;
  into = sizes->front();
  return "";
}

/// Reads a text into a member, by the member's type.
struct Reader {
  const OptionRow& row;
  std::string_view text;
  PredictOptions& job;
  Range range;

  std::string operator()(bool PredictOptions::*flag) const {
    job.*flag = true;
    return "";
  }
  std::string operator()(int PredictOptions::*number) const {
    std::optional<int> read;
    std::string expected = read_number(row, text, read, Range::checked);
    if (expected.empty()) job.*number = *read;
    return expected;
  }
  std::string operator()(std::optional<int> PredictOptions::*number) const { return read_number(row, text, job.*number, range); }
  std::string operator()(std::string PredictOptions::*name) const { return read_name(text, job.*name); }
  std::string operator()(std::vector<int> PredictOptions::*devices) const { return read_devices(text, job.*devices, range); }
  std::string operator()(std::vector<std::string> PredictOptions::*assignments) const {
    return read_assignment(text, job.*assignments, range);
  }
  template <class Other>
  std::string operator()(Other) const {
    assert(false && "an option that lands elsewhere");
    return "an option of a job";
  }
};

}  // namespace

std::optional<int> whole_number(std::string_view text, int low) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc{} || stopped != end || value < low) return std::nullopt;
  return value;
}

std::string read_number(const OptionRow& row, std::string_view text, std::optional<int>& into, Range range) {
  into = whole_number(text, range == Range::checked ? row.least : std::numeric_limits<int>::min());
  if (into && (range == Range::left_to_analysis || *into <= row.most)) return "";
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  const bool beyond = digits && !whole_number(text, 0);
  into.reset();
  return beyond ? fmt::format("a whole number of at most {}", row.most) : expected_number(row, range);
}

std::string read_option(const OptionRow& row, std::string_view text, PredictOptions& into, Range range) {
  return std::visit(Reader{row, text, into, range}, row.landing);
}

std::string read_option(const OptionRow& row, std::string_view text, RowSettings& into) {
  if (const auto* const name = std::get_if<std::string RowSettings::*>(&row.landing)) return read_name(text, into.**name);
  if (const auto* const size = std::get_if<std::optional<Bytes> RowSettings::*>(&row.landing))
    return read_size(text, into.**size);
  return read_option(row, text, into.options, Range::checked);
}

std::string expected_value(const OptionRow& row) {
  struct Expected {
    const OptionRow& row;
    std::string operator()(bool PredictOptions::*) const { return ""; }
    std::string operator()(std::vector<int> PredictOptions::*) const { return kDevices; }
    std::string operator()(std::vector<std::string> PredictOptions::*) const { return kAssignment; }
    std::string operator()(std::optional<Bytes> RowSettings::*) const { return kSize; }
    std::string operator()(int PredictOptions::*) const { return expected_number(row, Range::checked); }
    std::string operator()(std::optional<int> PredictOptions::*) const { return expected_number(row, Range::checked); }
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(std::string PredictOptions::*) const { return kName; }
    std::string operator()(std::string RowSettings::*) const { return kName; }
  };
  return std::visit(Expected{row}, row.landing);
}

}  // namespace tbdsim
