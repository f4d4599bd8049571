#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cli/output.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// The page that `--report` asks for.
struct ReportFile {
  std::string path;     ///< empty: none
  std::string command;  ///< that asks for it, as a shell reads it

  [[nodiscard]] bool asked() const { return !path.empty(); }
  /// Whether it may be written, without writing: before long work. Nothing where none was asked for.
  [[nodiscard]] Result<void> check() const;
  /// Writes the page of a verb's answer: of `data`, see `report_page`. `inputs`: files that the command reads, which are never
  /// replaced.
  [[nodiscard]] Result<void> write(std::string_view verb, std::string_view data, const std::vector<std::string>& notices,
                                   const std::vector<std::string>& inputs = {}) const;
};

/// The answer, once its page is written where one is asked for. `data`: what the page shows, as JSON.
[[nodiscard]] Result<Answer> with_page(const ReportFile& file, std::string_view verb, const std::function<std::string()>& data,
                                       Answer answer);

/// A command line as a shell reads it. Expects the program's name first, which is written as "tbdsim".
[[nodiscard]] std::string shell_text(int argc, const char* const* argv);

}  // namespace tbdsim
