#include "model/cli/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <type_traits>

#include "model/cli/command.hpp"
#include "model/cli/parse_arguments.hpp"
#include "model/cli/unknown_option.hpp"
#include "model/configuration/option_table.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

std::string dashed(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// No argument of a program holds one: it would end there.
bool holds_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

/// The words of the command line that say one option, added to `words`. Returns the problem.
std::string add_option(const OptionRow& row, const std::string& name, const std::string& value, const std::string& verb,
                       std::vector<std::string>& words) {
  const std::string option = fmt::format("--{}", name);
  if (row.flag()) {
    if (value != "true" && value != "false")
      return fmt::format("{}: {}: expected true or false, got {}", verb, option, tbdsim::quoted(value));
    if (value == "true") words.push_back(option);
  } else if (row.name == "join") {  // names between blanks
    words.push_back(option);
    for (std::size_t begin = 0; begin <= value.size();) {
      const std::size_t end = std::min(value.find(' ', begin), value.size());
      if (end > begin) words.push_back(value.substr(begin, end - begin));
      begin = end + 1;
    }
  } else if (row.name == "route") {  // two words
    const std::size_t blank = std::min(value.find(' '), value.size());
    words.insert(words.end(), {option, value.substr(0, blank)});
    if (blank < value.size()) words.push_back(value.substr(blank + 1));
  } else {
    words.push_back(fmt::format("{}={}", option, value));  // in one word, so that no value is taken for an option
  }
  return "";
}

/// The command line of a question, after the program's name.
Result<std::vector<std::string>> words_of(const Question& question, const VerbRow& verb) {
  const std::vector<const OptionRow*> rows = options_of(verb.verb);
  std::vector<std::string> known;
  for (const OptionRow* const row : rows)
    if (!row->word && row->name != "format") known.push_back("--" + std::string(row->name));
  std::vector<std::string> words{question.verb};
  Errors errors;
  for (const auto& [given, value] : question.options) {
    if (holds_nul(given) || holds_nul(value)) {
      errors.push_back({fmt::format("{}: --{}: a name or value without NUL characters is expected", question.verb,
                                    dashed(given.substr(0, given.find('\0'))))});
      continue;
    }
    const std::string name = dashed(given);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const OptionRow* r) {
      return !r->word && (r->name == name || (!r->alias.empty() && r->alias == name));
    });
    std::string problem;
    if (row == rows.end())
      problem = unknown_option(question.verb, "--" + name, known);
    else if ((*row)->name == "format")
      problem = fmt::format("{}: --format: the answer is JSON here", question.verb);
    else
      problem = add_option(**row, name, value, question.verb, words);
    if (!problem.empty()) errors.push_back({std::move(problem)});
  }
  if (std::any_of(question.words.begin(), question.words.end(), holds_nul))
    errors.push_back({fmt::format("{}: a word without NUL characters is expected", question.verb)});
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  if (!question.words.empty()) words.emplace_back("--");
  words.insert(words.end(), question.words.begin(), question.words.end());
  return words;
}

/// Whether a file of the user's own is among the values of a list or of `KEY=VALUE`.
bool names_file(const std::string& value) {
  std::error_code ignored;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find_first_of(",=", begin), value.size());
    const std::string name = value.substr(begin, end - begin);
    if (!name.empty() && (std::filesystem::exists(name, ignored) || std::filesystem::exists(name + ".toml", ignored)))
      return true;
    begin = end + 1;
  }
  return false;
}

bool names_file(const Question& question) {
  return std::any_of(question.options.begin(), question.options.end(), [](const auto& o) { return names_file(o.second); }) ||
         !question.words.empty();
}

bool changes_values(const Question& question) {
  return std::any_of(question.options.begin(), question.options.end(), [](const auto& option) {
    const std::string name = dashed(option.first);
    return name == "set" || name == "what-if" || name == "calibration";
  });
}

}  // namespace

Result<Arguments> read_question(const Question& question) {
  const auto verbs = verb_table();
  const auto verb = std::find_if(verbs.begin(), verbs.end(), [&](const VerbRow& row) { return row.name == question.verb; });
  if (verb == verbs.end() || verb->verb == Verb::calibrate) {
    std::vector<std::string> known;
    for (const VerbRow& row : verbs) known.emplace_back(row.name);
    return fail(fmt::format("unknown verb {}{}", tbdsim::quoted(question.verb), suggestion(question.verb, known)));
  }
  auto words = words_of(question, *verb);
  if (!words) return tl::make_unexpected(words.error());
  std::string program = "tbdsim";
  std::vector<char*> argv{program.data()};
  for (std::string& word : *words) argv.push_back(word.data());
  auto arguments = parse_arguments(static_cast<int>(argv.size()), argv.data());
  if (!arguments) return fail(arguments.error().text);
  return std::move(*arguments);
}

Result<Answer> answer_json(const Arguments& arguments, Session& session) {
  return std::visit(
      [&](auto of_verb) -> Result<Answer> {
        if constexpr (requires { answer(of_verb, session); }) {
          if constexpr (std::is_same_v<decltype(of_verb.format), Format>) of_verb.format = Format::json;
          return answer(of_verb, session);
        } else {
          return fail("this verb has no answer in JSON");
        }
      },
      arguments);
}

Answerer::Answerer(Catalogue catalogue) : catalogue_(std::move(catalogue)), session_(open_session(catalogue_)) {}

std::shared_ptr<Session> Answerer::session_for(const Question& question) {
  constexpr int kMostEdited = 256;  // changed inputs take about 100 kB each
  if (names_file(question)) return open_session(catalogue_);
  const std::lock_guard lock(mutex_);
  if (changes_values(question) && ++edited_ > kMostEdited) {
    session_ = open_session(catalogue_);
    edited_ = 1;
  }
  return session_;
}

Result<Answer> Answerer::ask(const Question& question) {
  return read_question(question).and_then(
      [&](const Arguments& arguments) { return answer_json(arguments, *session_for(question)); });
}

}  // namespace tbdsim
