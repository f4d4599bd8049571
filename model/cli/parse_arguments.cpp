// Declaring options, reading the command line, saying what is wrong with it.
#include "model/cli/parse_arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "model/cli/describe_verbs.hpp"
#include "model/cli/unknown_option.hpp"
#include "model/cli/verb_help.hpp"
#include "model/cli/verb_options.hpp"
#include "model/report/text_table.hpp"
#include "model/support/quote.hpp"
#include "model/support/version.hpp"

namespace tbdsim {

namespace {

constexpr std::size_t kHelpColumn = 24;  ///< of 80
constexpr std::size_t kHelpWidth = 80 - kHelpColumn;

/// "--output", as problems name it.
std::string long_spelling(const OptionRow& row) {
  return fmt::format("--{}", row.name) + (row.alias.empty() ? "" : fmt::format(",--{}", row.alias));
}

/// "-o,--output", or "FILE" of a bare word.
std::string spelling(const OptionRow& row) {
  if (row.word) return std::string(row.value);
  return (row.letter == '\0' ? "" : fmt::format("-{},", row.letter)) + long_spelling(row);
}

}  // namespace

std::string VerbOptions::help(const OptionRow& row) const { return words_ ? "" : wrapped(shown_help(row), kHelpWidth, 0); }

bool VerbOptions::wanted(const OptionRow& row) const {
  if (!words_ || row.word) return true;
  const auto is = [](std::string_view word, std::string_view name) {
    return !name.empty() && word.starts_with(name) && (word.size() == name.size() || word[name.size()] == '=');
  };
  return std::any_of(words_->begin(), words_->end(), [&](std::string_view word) {
    if (word.size() < 2 || word[0] != '-') return false;
    if (word[1] != '-') return row.letter != '\0';
    return is(word.substr(2), row.name) || is(word.substr(2), row.alias);
  });
}

void VerbOptions::checked_option(const OptionRow& row, Reader read) {
  const auto apply = [name = long_spelling(row), read = std::move(read)](const std::string& text) {
    const std::string problem = read(text);
    if (!problem.empty()) throw CLI::ValidationError(name, problem);
  };
  app_.add_option_function<std::string>(spelling(row), apply, help(row))->option_text(shown_value(row, verb_));
}

void VerbOptions::option(const OptionRow& row, Setter set) {
  checked_option(row, [set = std::move(set)](const std::string& text) {
    const std::string expected = set(text);
    return expected.empty() ? "" : fmt::format("expected {}, got {}", expected, tbdsim::quoted(text));
  });
}

void VerbOptions::repeated_option(const OptionRow& row, Reader read) {
  const auto apply = [name = long_spelling(row), read = std::move(read)](const std::vector<std::string>& texts) {
    std::string problems;
    for (const std::string& text : texts) {
      const std::string problem = read(text);
      if (!problem.empty()) problems += (problems.empty() ? "" : "; ") + problem;
    }
    if (!problems.empty()) throw CLI::ValidationError(name, problems);
  };
  app_.add_option_function<std::vector<std::string>>(spelling(row), apply, help(row))
      ->option_text(shown_value(row, verb_))
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void VerbOptions::words_option(const OptionRow& row, std::vector<std::string>& target, int least, int most) {
  app_.add_option(spelling(row), target, help(row))->option_text(shown_value(row, verb_))->expected(least, most);
}

void VerbOptions::flag(const OptionRow& row, bool& target) { app_.add_flag(spelling(row), target, help(row)); }

void VerbOptions::flag(const OptionRow& row, const std::function<void()>& act) {
  app_.add_flag_callback(spelling(row), act, help(row));
}

void VerbOptions::word(const OptionRow& row, std::string& target) {
  app_.add_option(spelling(row), target, help(row))->option_text(" ");
}

void VerbOptions::words(const OptionRow& row, std::vector<std::string>& target) {
  app_.add_option(spelling(row), target, help(row))->option_text("...");
}

namespace {

constexpr int kUsage = 2;

/// A command line that passes the width of a terminal goes on below, as in a shell.
std::string wrapped_command(const std::string& command) {
  constexpr std::size_t kWidth = 68;
  std::string text = command;
  for (std::size_t begin = 0; text.size() - begin > kWidth;) {
    const std::size_t blank = text.rfind(" --", begin + kWidth);
    if (blank == std::string::npos || blank <= begin) break;
    text.replace(blank, 1, " \\\n    ");
    begin = blank + 3;
  }
  return text;
}

/// Every verb with its options, bound to where they go.
struct CommandLine {
  CLI::App app{"Predicts how fast a DNN trains on described hardware, how far it scales and\nwhether it fits.", "tbdsim"};
  PredictArguments predict;
  CompareArguments compare;
  PlanArguments plan;
  SweepArguments sweep;
  ExplainArguments explain;
  NetworkArguments network;
  ScaleArguments scale;
  MemoryArguments memory;
  ValidateArguments validate;
  ListArguments list;
  ShowArguments show;
  TopologyArguments topology;
  DocsArguments docs;

  /// `only`: the verb whose options are declared; empty: all, with whose names its help begins. `words`: only the options among
  /// them, without help; absent: all with their help.
  CommandLine(std::string_view only, std::optional<std::span<char* const>> words) : words_(words) {
    app.set_version_flag("--version", fmt::format("tbdsim {}", version()), "Print the version");
    app.set_help_flag("-h,--help", "Print this help");
    app.get_formatter()->column_width(kHelpColumn);
    app.require_subcommand(1);
    for (const VerbRow& row : verb_table())
      if (only.empty() || row.name == only) describe(row);
  }

 private:
  std::optional<std::span<char* const>> words_;

  VerbOptions options(const VerbRow& row) {
    const std::string name(row.name);
    CLI::App* sub = app.add_subcommand(name, std::string(row.text));
    sub->set_help_flag("-h,--help", "Print this help");
    if (words_) return {*sub, row.verb, words_};
    std::string footer = takes_lists(row.verb) ? fmt::format("{}\n", kListMeaning) : "";
    bool first = true;
    for (const Example& example : examples(name)) {
      footer += fmt::format("{}{}\n  tbdsim {}\n", first ? (footer.empty() ? "Examples:\n" : "\nExamples:\n") : "",
                            example.question, wrapped_command(example.command));
      first = false;
    }
    sub->footer(footer);
    return {*sub, row.verb, std::nullopt};
  }

  void describe(const VerbRow& row) {
    const VerbOptions verb = options(row);
    switch (row.verb) {
      case Verb::predict:
        return tbdsim::describe(verb, predict);
      case Verb::compare:
        return tbdsim::describe(verb, compare);
      case Verb::plan:
        return tbdsim::describe(verb, plan);
      case Verb::sweep:
        return tbdsim::describe(verb, sweep);
      case Verb::explain:
        return tbdsim::describe(verb, explain);
      case Verb::network:
        return tbdsim::describe(verb, network);
      case Verb::scale:
        return tbdsim::describe(verb, scale);
      case Verb::memory:
        return tbdsim::describe(verb, memory);
      case Verb::validate:
        return tbdsim::describe(verb, validate);
      case Verb::topology:
        return tbdsim::describe(verb, topology);
      case Verb::list:
        return tbdsim::describe(verb, list);
      case Verb::show:
        return tbdsim::describe(verb, show);
      case Verb::docs:
        return tbdsim::describe(verb, docs);
      case Verb::calibrate:
        break;  // a program of its own
    }
  }
};

std::string unexpected_word(const CLI::App& verb, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  if (word.empty() || word.front() != '-') {
    const bool machine = std::find(known.begin(), known.end(), "--hw") != known.end();
    return fmt::format("{}: unexpected word {}{}", verb.get_name(), tbdsim::quoted(word),
                       machine ? "; options have names, such as --hw dgx1 --model resnet50" : "");
  }
  return unknown_option(verb.get_name(), word, known);
}

/// What is wrong with the options of the verb that was given, in this program's words.
std::string usage_problem(const CommandLine& line, const CLI::ParseError& error) {
  const CLI::App& verb = *line.app.get_subcommands().front();
  const std::string message = error.what();
  const std::string name = message.substr(0, message.find(':'));
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
    case CLI::ExitCodes::ExtrasError:
      return unexpected_word(verb, verb.remaining().front());
    case CLI::ExitCodes::ArgumentMismatch:
      if (message.find("At Most") != std::string::npos) return fmt::format("{}: {} is given twice", verb.get_name(), name);
      return fmt::format("{}: {}: value missing", verb.get_name(), name);
    default:
      return fmt::format("{}: {}", verb.get_name(), message);
  }
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const VerbRow& row : verb_table()) names.emplace_back(row.name);
  return names;
}

/// What CLI11 would take for a word without meaning.
std::optional<Stop> wrong_verb(int argc, char** argv) {
  const std::vector<std::string> verbs = verb_names();
  if (argc < 2) return Stop{kUsage, fmt::format("expected a verb: {} (tbdsim --help tells more)", fmt::join(verbs, ", "))};
  const std::string word = argv[1];
  if (std::find(verbs.begin(), verbs.end(), word) != verbs.end()) return std::nullopt;
  if (word.empty() || word.front() != '-')
    return Stop{kUsage, fmt::format("unknown verb {}{}; verbs are {}", tbdsim::quoted(word), suggestion(word, verbs),
                                    fmt::join(verbs, ", "))};
  for (const char* known : {"-h", "--help", "--version"}) {
    if (word == known) return std::nullopt;
  }
  return Stop{kUsage, fmt::format("expected a verb before {}: {}", tbdsim::quoted(word), fmt::join(verbs, ", "))};
}

tl::expected<Arguments, Stop> chosen(const CommandLine& line) {
  const std::string verb = line.app.get_subcommands().front()->get_name();
  if (verb == "predict") return line.predict;
  if (verb == "compare") return line.compare;
  if (verb == "plan") return line.plan;
  if (verb == "sweep") return line.sweep;
  if (verb == "explain") return line.explain;
  if (verb == "network") return line.network;
  if (verb == "scale") return line.scale;
  if (verb == "memory") return line.memory;
  if (verb == "list") return line.list;
  if (verb == "docs") return line.docs;
  if (verb == "validate") {
    if (line.validate.files.empty())
      return tl::make_unexpected(Stop{kUsage, "validate: expected a measured-run table (CSV) or a scenario (TOML)"});
    return line.validate;
  }
  if (verb == "show") {
    if (line.show.name.empty())
      return tl::make_unexpected(Stop{kUsage, "show: expected a name; tbdsim list shows what there is"});
    return line.show;
  }
  if (line.topology.asked.options.hardware.empty())
    return tl::make_unexpected(Stop{kUsage, "topology: no hardware named; use --hw, such as --hw dgx1"});
  return line.topology;
}

/// Arguments whose page, where a verb writes one, names the command that asks for it.
tl::expected<Arguments, Stop> naming_command(tl::expected<Arguments, Stop> arguments, int argc, char** argv) {
  if (!arguments) return arguments;
  std::visit(
      [&](auto& of_verb) {
        if constexpr (requires { of_verb.report; }) of_verb.report.command = shell_text(argc, argv);
      },
      *arguments);
  return arguments;
}

}  // namespace

tl::expected<Arguments, Stop> parse_arguments(int argc, char** argv) {
  if (auto stop = wrong_verb(argc, argv)) return tl::make_unexpected(std::move(*stop));
  const std::string_view verb = argv[1][0] == '-' ? "" : argv[1];
  CommandLine quick(verb, std::span<char* const>(argv + 1, static_cast<std::size_t>(argc) - 1));
  try {
    quick.app.parse(argc, argv);
    return naming_command(chosen(quick), argc, argv);
  } catch (const CLI::Error&) {  // help and errors know all options
  }
  CommandLine line(verb, std::nullopt);
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    return tl::make_unexpected(Stop{0, fmt::format("{}\n", version.what())});
  } catch (const CLI::CallForHelp&) {
    return tl::make_unexpected(Stop{0, line.app.help()});
  } catch (const CLI::ParseError& error) { return tl::make_unexpected(Stop{kUsage, usage_problem(line, error)}); }
  return naming_command(chosen(line), argc, argv);
}

}  // namespace tbdsim
