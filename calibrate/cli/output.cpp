#include "calibrate/cli/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "model/support/quote.hpp"

namespace tbdsim::calibrate {

Result<int> may_replace(const std::string& path, std::string_view own, const std::vector<std::string>& inputs) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) return fail(fmt::format("cannot write {}: it is a folder", path));
  if (!std::filesystem::is_regular_file(status)) return 0;
  const bool read = std::any_of(inputs.begin(), inputs.end(),
                                [&](const std::string& input) { return std::filesystem::equivalent(path, input, ignored); });
  if (read) return fail(fmt::format("{}: is read by the same command; write to another file", path));
  constexpr std::size_t kShown = 40;
  std::string line(std::max(own.size(), kShown), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  if (line.empty() || std::string_view(line).substr(0, own.size()) == own) return 0;
  line.resize(std::min({line.size(), kShown, line.find('\n')}));
  return fail(fmt::format("{}: holds what this command did not write ({}...); write to another file, or remove it", path,
                          tbdsim::quoted(line)));
}

Result<int> write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) return fail(fmt::format("cannot write {}", path));
  return 0;
}

}  // namespace tbdsim::calibrate
