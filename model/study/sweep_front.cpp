#include "model/study/sweep_front.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "model/study/pareto.hpp"

namespace tbdsim {
namespace {

/// Options that change what a sample is; all others are ways of doing the same work.
constexpr std::array<std::string_view, 4> kWork{"model", "image", "seq-len", "buckets"};

struct Rivals {
  std::vector<Choice> choices;
  std::vector<std::size_t> rows;
};

std::string work_of(const SweepRow& row) {
  std::string work;
  for (const auto& [option, value] : config_pairs(row.config))
    if (std::find(kWork.begin(), kWork.end(), option) != kWork.end()) work.append("\n").append(option).append("=").append(value);
  return work;
}

std::string unescaped(std::string_view text) {
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size();
    if (escape) ++i;
    value += escape && text[i] == 'n' ? '\n' : text[i];
  }
  return value;
}

}  // namespace

std::string config_text(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string text;
  for (const auto& [option, value] : pairs) {
    text += option + '=';
    for (const char c : value) text += c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
    text += '\n';
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> config_pairs(const std::string& config) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t begin = 0; begin < config.size();) {
    const std::size_t end = std::min(config.find('\n', begin), config.size());
    const std::size_t equals = std::min(config.find('=', begin), end), value = std::min(equals + 1, end);
    pairs.emplace_back(config.substr(begin, equals - begin), unescaped(std::string_view(config).substr(value, end - value)));
    begin = end + 1;
  }
  return pairs;
}

Result<std::vector<bool>> sweep_front(const SweepStore& store) {
  std::map<std::string, std::map<PaidBy, Rivals>> groups;  // by work
  std::size_t rows = 0;
  const auto read = store.each([&](const SweepRow& row) {
    const std::size_t number = rows++;
    if (!row.problem.empty() || !row.fits) return;
    Rivals& rivals = groups[work_of(row)][row.paid_by];
    rivals.choices.push_back({Seconds(1.0 / row.throughput), row.million_samples_cost, row.peak});
    rivals.rows.push_back(number);
  });
  if (!read) return tl::make_unexpected(read.error());
  std::vector<bool> front(rows, false);
  for (const auto& [work, payments] : groups) {
    for (const auto& [by, rivals] : payments) {
      if (by == PaidBy::nothing && payments.size() > 1) continue;
      const std::vector<bool> kept = pareto_front(rivals.choices);
      for (std::size_t i = 0; i < kept.size(); ++i) front[rivals.rows[i]] = kept[i];
    }
  }
  return front;
}

}  // namespace tbdsim
