#include "calibrate/collect/device_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "model/support/quote.hpp"

namespace tbdsim::calibrate {
namespace {

/// Lower-case words: letters and digits, split at everything else.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0)
      words.back() += static_cast<char>(std::tolower(byte));
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::vector<std::string> significant(const std::string& driver_name) {
  constexpr std::array<std::string_view, 15> kLine{"nvidia",   "geforce",     "tesla",      "quadro",  "gpu",
                                                   "graphics", "corporation", "with",       "max",     "hbm3",
                                                   "ac",       "blackwell",   "generation", "edition", "workstation"};
  std::vector<std::string> words = words_of(driver_name);
  words.erase(std::remove_if(words.begin(), words.end(),
                             [&](const std::string& w) { return std::find(kLine.begin(), kLine.end(), w) != kLine.end(); }),
              words.end());
  // The catalogue's "a6000" is the RTX A6000.
  if (words.size() > 1 && words[0] == "rtx" && words[1].size() > 1 && words[1][0] == 'a' &&
      std::isdigit(static_cast<unsigned char>(words[1][1])) != 0)
    words.erase(words.begin());
  return words;
}

/// Words of the form of a board and of its memory, which a name may leave out: "sxm5", "pcie", "nvl", "80gb".
bool is_form(const std::string& word) {
  const auto unit = word.find_first_not_of("0123456789");
  return word.rfind("sxm", 0) == 0 || word == "pcie" || word == "nvl" ||
         (unit != 0 && unit != std::string::npos && word.substr(unit) == "gb");
}

/// Whether `id` has the word. A catalogue says "sxm5" where a driver may say "SXM", and "sxm" where a driver may say "SXM6".
bool has(const std::vector<std::string>& id, const std::string& word) {
  return std::any_of(id.begin(), id.end(), [&](const std::string& part) {
    return part == word || (is_form(word) && (part.rfind(word, 0) == 0 || (is_form(part) && word.rfind(part, 0) == 0)));
  });
}

/// Whether the id is a board of this name: the same model, to the word ("rtx-2080-ti" is no RTX 2080, "l40s" no L40), and of the
/// forms that the name tells.
bool fits(const std::vector<std::string>& name, const std::vector<std::string>& id) {
  return std::all_of(name.begin(), name.end(), [&](const std::string& word) { return has(id, word); }) &&
         std::all_of(id.begin(), id.end(), [&](const std::string& part) {
           return is_form(part) || std::find(name.begin(), name.end(), part) != name.end();
         });
}

/// A board with HBM3 and no word of its form is the module: the PCIe boards of the same chip have HBM2e or say "NVL", as all do
/// that are called so.
bool other_form(const std::vector<std::string>& id, const std::string& driver_name) {
  const auto is = [&](const char* form) { return std::find(id.begin(), id.end(), form) != id.end(); };
  if (is("nvl")) return driver_name.find("NVL") == std::string::npos;
  return is("pcie") && driver_name.find("HBM3") != std::string::npos;
}

}  // namespace

Result<std::string> catalogue_id(const std::string& driver_name, const std::vector<std::string>& ids) {
  const std::vector<std::string> wanted = significant(driver_name);
  std::vector<std::string> fitting, exact;
  for (const std::string& id : ids) {
    const std::vector<std::string> parts = words_of(id);
    if (wanted.empty() || !fits(wanted, parts)) continue;
    fitting.push_back(id);
    if (parts == wanted) exact.push_back(id);
  }
  if (exact.size() == 1) return exact.front();
  if (fitting.size() > 1) std::erase_if(fitting, [&](const std::string& id) { return other_form(words_of(id), driver_name); });
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty())
    return fail(
        fmt::format("no catalogued GPU is called {}; name one of `tbdsim list gpus`, or a name of your own, with --device",
                    quoted(driver_name)));
  return fail(fmt::format("{} may be {}; say which with --device", quoted(driver_name), fmt::join(fitting, ", ")));
}

}  // namespace tbdsim::calibrate
