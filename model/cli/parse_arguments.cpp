// The one file that includes CLI11: declaring options, reading the command line, saying what is wrong with it.
#include "model/cli/parse_arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "model/cli/describe_verbs.hpp"
#include "model/cli/option_values.hpp"
#include "model/cli/verb_help.hpp"
#include "model/cli/verb_options.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {

void VerbOptions::checked_option(const std::string& name, const std::string& value, const std::string& help, Reader read) {
  const auto apply = [name, read = std::move(read)](const std::string& text) {
    const std::string problem = read(text);
    if (!problem.empty()) throw CLI::ValidationError(name, problem);
  };
  app_.add_option_function<std::string>(name, apply, help)->option_text(value);
}

void VerbOptions::option(const std::string& name, const std::string& value, const std::string& help, Setter set) {
  checked_option(name, value, help, [set = std::move(set)](const std::string& text) {
    const std::string expected = set(text);
    return expected.empty() ? "" : fmt::format("expected {}, got {}", expected, tbdsim::quoted(text));
  });
}

void VerbOptions::repeated_option(const std::string& name, const std::string& value, const std::string& help, Reader read) {
  const auto apply = [name, read = std::move(read)](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const std::string problem = read(text);
      if (!problem.empty()) throw CLI::ValidationError(name, problem);
    }
  };
  app_.add_option_function<std::vector<std::string>>(name, apply, help)
      ->option_text(value)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void VerbOptions::name_option(const std::string& name, const std::string& value, const std::string& help, std::string& target) {
  option(name, value, help, [&target](const std::string& text) -> std::string {
    target = text;
    return text.empty() ? "a name" : "";
  });
}

void VerbOptions::number_option(const std::string& name, const std::string& help, std::optional<int>& target) {
  option(name, "N", help, [&target](const std::string& text) { return set_number(target, text); });
}

void VerbOptions::words_option(const std::string& name, const std::string& value, const std::string& help,
                               std::vector<std::string>& target, int least, int most) {
  app_.add_option(name, target, help)->option_text(value)->expected(least, most);
}

void VerbOptions::flag(const std::string& name, bool& target, const std::string& help) { app_.add_flag(name, target, help); }

void VerbOptions::flag(const std::string& name, const std::function<void()>& act, const std::string& help) {
  app_.add_flag_callback(name, act, help);
}

void VerbOptions::word(const std::string& name, const std::string& help, std::string& target) {
  app_.add_option(name, target, help)->option_text(" ");
}

void VerbOptions::words(const std::string& name, const std::string& help, std::vector<std::string>& target) {
  app_.add_option(name, target, help)->option_text("...");
}

namespace {

constexpr int kUsage = 2;
constexpr std::size_t kHelpColumn = 24;  ///< leaves room for 56 characters of text in 80 columns

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

  CommandLine() {
    app.set_version_flag("--version", "tbdsim " TBDSIM_VERSION, "Print the version");
    app.set_help_flag("-h,--help", "Print this help");
    app.get_formatter()->column_width(kHelpColumn);
    app.require_subcommand(1);
    describe(verb("predict", "Step time, throughput, stages, limit, memory and cost"), predict);
    describe(verb("compare", "Several jobs side by side: speed-up, memory, price"), compare);
    describe(verb("sweep", "A grid of jobs into a file, resumable"), sweep);
    describe(verb("explain", "What limits a step, its health, and what would help"), explain);
    describe(verb("network", "Which arrays delay several nodes, and whether they pay"), network);
    describe(verb("scale", "Epoch time, speed-up and efficiency over GPUs and nodes"), scale);
    describe(verb("memory", "Memory of each GPU, what it is held for, largest batch"), memory);
    describe(verb("validate", "Predictions against measured runs"), validate);
    describe(verb("topology", "Links, relations of GPUs, rings and routes of a node"), topology);
    describe(verb("list", "What the catalogue holds"), list);
    describe(verb("show", "One entry of the catalogue with its sources"), show);
    describe(verb("docs", "Manual page and completion scripts, for packages"), docs);
    verb("calibrate", "Kernel parameters from samples (tbdsim-calibrate)");
  }

  [[nodiscard]] std::vector<std::string> verbs() const {
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(sub->get_name());
    return names;
  }

 private:
  VerbOptions verb(const std::string& name, const std::string& description) {
    CLI::App* sub = app.add_subcommand(name, description);
    sub->set_help_flag("-h,--help", "Print this help");
    std::string footer;
    for (const Example& example : examples(name))
      footer += fmt::format("{}{}\n  tbdsim {}\n", footer.empty() ? "Examples:\n" : "", example.question,
                            wrapped_command(example.command));
    sub->footer(footer);
    return VerbOptions(*sub);
  }
};

/// The options of a verb as its help shows them.
VerbHelp described(const CLI::App& verb) {
  VerbHelp help{verb.get_name(), verb.get_description(), {}};
  for (const CLI::Option* option : verb.get_options()) {
    if (option == verb.get_help_ptr()) continue;
    const auto& names = option->get_lnames();
    const std::string name = names.empty()
                                 ? option->get_snames().empty() ? option->get_single_name() : "-" + option->get_snames().front()
                                 : "--" + names.front();
    const std::string value = option->get_option_text();
    help.options.push_back({name, value == " " || value == "..." ? "" : value, option->get_description()});
  }
  return help;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  return near ? fmt::format(", did you mean \"{}\"?", *near) : "";
}

std::string unexpected_word(const CLI::App& verb, const std::string& word) {
  if (word.empty() || word.front() != '-') return fmt::format("{}: unexpected word {}", verb.get_name(), tbdsim::quoted(word));
  std::vector<std::string> known;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string name = word.substr(0, word.find('='));
  // Other programs' longer names for the same: --batch-size.
  for (const std::string& option : known)
    if (name.size() > option.size() && name.compare(0, option.size() + 1, option + "-") == 0)
      return fmt::format("{}: unknown option {}, did you mean \"{}\"?", verb.get_name(), tbdsim::quoted(name), option);
  std::string hint = suggestion(name, known);
  if (hint.empty() && verb.get_name() == "list") hint = "; name a kind, such as tbdsim list gpus, or nothing for the kinds";
  return fmt::format("{}: unknown option {}{}", verb.get_name(), tbdsim::quoted(name), hint);
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

/// What CLI11 would take for a word without meaning.
std::optional<Stop> wrong_verb(const CommandLine& line, int argc, char** argv) {
  const std::vector<std::string> verbs = line.verbs();
  if (argc < 2) return Stop{kUsage, fmt::format("expected a verb: {} (tbdsim --help tells more)", fmt::join(verbs, ", "))};
  const std::string word = argv[1];
  if (std::find(verbs.begin(), verbs.end(), word) != verbs.end()) return std::nullopt;
  if (word.empty() || word.front() != '-')
    return Stop{kUsage, fmt::format("unknown verb {}{}\nverbs are {}", tbdsim::quoted(word), suggestion(word, verbs),
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

}  // namespace

std::vector<VerbHelp> verb_help() {
  const CommandLine line;
  std::vector<VerbHelp> verbs;
  for (const CLI::App* sub : line.app.get_subcommands([](const CLI::App*) { return true; })) verbs.push_back(described(*sub));
  return verbs;
}

tl::expected<Arguments, Stop> parse_arguments(int argc, char** argv) {
  CommandLine line;
  if (auto stop = wrong_verb(line, argc, argv)) return tl::make_unexpected(std::move(*stop));
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    return tl::make_unexpected(Stop{0, fmt::format("{}\n", version.what())});
  } catch (const CLI::CallForHelp&) {
    return tl::make_unexpected(Stop{0, line.app.help()});
  } catch (const CLI::ParseError& error) { return tl::make_unexpected(Stop{kUsage, usage_problem(line, error)}); }
  return chosen(line);
}

}  // namespace tbdsim
