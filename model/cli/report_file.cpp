#include "model/cli/report_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "model/input/output_file.hpp"
#include "model/report/report_page.hpp"

namespace tbdsim {
namespace {

/// A word between single quotes, unless every character of it stands for itself.
std::string shell_word(std::string_view word) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("-_./,:=+%@").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

/// Refuses the endings of other kinds of files.
Result<void> page_name(const std::string& path) {
  constexpr std::array<std::string_view, 9> kOthers{".csv", ".json", ".jsonl", ".md", ".pdf", ".png", ".svg", ".toml", ".txt"};
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (std::find(kOthers.begin(), kOthers.end(), ending) == kOthers.end()) return {};
  return fail(fmt::format("--report {}: writes a page of HTML; name a file that ends in .html", path));
}

OutputFile output(const std::string& path, const std::vector<std::string>& inputs) {
  return {path, std::string(kPageMark), inputs};
}

}  // namespace

Result<void> ReportFile::check() const {
  if (!asked()) return {};
  return output(path, {}).check().and_then([&] { return page_name(path); });
}

Result<void> ReportFile::write(std::string_view verb, std::string_view data, const std::vector<std::string>& notices,
                               const std::vector<std::string>& inputs) const {
  const OutputFile page = output(path, inputs);
  return page.check().and_then([&] { return page_name(path); }).and_then([&] {
    return page.write(report_page({verb, command, notices}, data));
  });
}

Result<Answer> with_page(const ReportFile& file, std::string_view verb, const std::function<std::string()>& data, Answer answer) {
  if (!file.asked()) return answer;
  return file.write(verb, data(), answer.notices).map([&] { return std::move(answer); });
}

std::string shell_text(int argc, const char* const* argv) {
  std::string text = "tbdsim";
  for (int i = 1; i < argc; ++i) text += " " + shell_word(argv[i]);
  return text;
}

}  // namespace tbdsim
