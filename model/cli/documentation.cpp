#include "model/cli/documentation.hpp"

#include "model/cli/glossary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/support/version.hpp"

namespace tbdsim {
namespace {

struct Section {
  const char *title, *text;
};

/// What every reader of a result should know; the verbs and their options come from the option table.
constexpr Section kSections[] = {
    {"HOW TO READ A RANGE",
     "Every figure has a central 80 % range: of ten measurements that set no constant, eight should lie inside. A range is wide "
     "where little is known: a GPU without samples of its own, 16-bit arithmetic, several GPUs, a software version that the "
     "catalogue lacks. Notes on standard error say which. Two candidates whose ranges overlap may still differ: `compare` gives "
     "the range of their ratio, and marks with ? a candidate that may be as fast as the first. The line Constants says where the "
     "constants come from: datasheet, paper, measured, fitted, transferred from a relative, or assumed."},
    {"WHAT IT DOES NOT KNOW",
     "The accuracy that training reaches: epochs are an input. Interference of other programs, thermal throttling, failures. "
     "Stall "
     "shares and occupancy are modelled, not measured. Prices change: those of the catalogue carry their date, and a file of "
     "yours goes first. `validate` on the tables of scenarios/ shows how good it is, docs/ACCURACY.md has the tables."},
    {"LISTS",
     "Where an option takes a LIST of numbers, these are 1,2,4 or a range: 1..8 is every number, 4..128*2 each twice the one "
     "before. "
     "Names stand between commas. Sizes are bytes or carry a unit, and their ranges double: 1KiB..1GiB."},
    {"FILES",
     "Machines, networks, stacks and scenarios are TOML files, tables of measured runs and of kernel samples are CSV files; "
     "`tbdsim docs formats` lists their keys and columns, `tbdsim calibrate formats` those of samples and plans. Quantities "
     "carry "
     "their unit: \"25 GB/s\", \"16 GiB\", \"5 us\"; a bare number is refused. A mistake is reported with file, line and column, "
     "all of a file at once."},
    {"ENVIRONMENT",
     "TBDSIM_CATALOGUE: the folder that holds hardware/; without it share/tbdsim beside the program, or the source tree. "
     "OMP_NUM_THREADS: threads of sweep, compare and validate; results do not depend on it, and at most four run on a core. "
     "NO_COLOR: set, verdicts have no colour on a terminal; elsewhere they never have one. TERM: \"dumb\" shows neither colour "
     "nor "
     "a line of progress."},
    {"EXIT STATUS",
     "0: done. 1: a check failed, such as a claim of a scenario or a limit of --max-mean-ape. 2: bad usage or input. 3: no "
     "usable GPU "
     "(calibrate collect, calibrate profile)."},
};

std::string troff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else if (c == '\n')
      escaped += ' ';
    else
      escaped += c;
  }
  // A line that begins with these would be a request.
  if (!escaped.empty() && (escaped.front() == '.' || escaped.front() == '\'')) escaped.insert(0, "\\&");
  return escaped;
}

std::string option_words(const OptionHelp& option) {
  return option.value.empty() ? fmt::format("\\fB{}\\fR", troff(option.name))
                              : fmt::format("\\fB{}\\fR \\fI{}\\fR", troff(option.name), troff(option.value));
}

std::string names_of(const std::vector<VerbHelp>& verbs) {
  std::string names;
  for (const VerbHelp& verb : verbs) names += (names.empty() ? "" : " ") + verb.name;
  return names;
}

std::string long_options(const VerbHelp& verb) {
  std::string names;
  for (const OptionHelp& option : verb.options) {
    if (!option.bare()) names += (names.empty() ? "" : " ") + option.name;
  }
  return names;
}

/// The word that stands without an option; empty: files, or none.
OptionHelp bare_word(const VerbHelp& verb) {
  const auto word = std::find_if(verb.options.begin(), verb.options.end(), [](const OptionHelp& o) { return o.bare(); });
  return word == verb.options.end() ? OptionHelp{} : *word;
}

/// Names of entries of the catalogue, for bash.
std::string bash_names(const std::string& kinds) {
  return fmt::format(
      "$(compgen -W \"$(for kind in {}; do tbdsim list $kind --format csv 2>/dev/null | cut -d, -f2 | tail -n +2; done)\" -- "
      "\"$word\")",
      kinds);
}

/// What bash offers as the value of an option or as a word: words, or names of the catalogue and files; empty: files.
std::string bash_values(const OptionHelp& option, bool files) {
  if (!option.words.empty()) return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", option.words);
  if (option.kinds.empty()) return "";
  return fmt::format("COMPREPLY=({}{})", bash_names(option.kinds), files ? " $(compgen -f -- \"$word\")" : "");
}

/// What zsh offers as the value of an option: names of the catalogue, the words themselves, files, or nothing.
std::string zsh_values(const OptionHelp& option) {
  if (!option.kinds.empty()) return fmt::format(" _tbdsim_names {}", option.kinds);
  if (!option.words.empty()) return fmt::format("({})", option.words);
  return option.value.find("FILE") != std::string::npos ? "_files" : " ";
}

/// What stands without an option after a verb, which is the first word itself, for zsh.
std::string zsh_words(const VerbHelp& verb) {
  const OptionHelp word = bare_word(verb);
  if (word.words.empty() && word.kinds.empty()) return "*:file:_files";
  std::string name = word.name;
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return static_cast<char>(c - 'A' + 'a'); });
  return fmt::format("2:{}:{}", name, zsh_values(word));
}

}  // namespace

std::string manual_page(const std::vector<VerbHelp>& verbs) {
  std::string page = fmt::format(".TH TBDSIM 1 \"\" \"tbdsim {}\" \"User Commands\"\n", version());
  page +=
      ".SH NAME\ntbdsim \\- predict how fast a deep network trains, without the machine\n"
      ".SH SYNOPSIS\n.B tbdsim\n\\fIVERB\\fR [\\fIOPTION\\fR]...\n.SH DESCRIPTION\n";
  page +=
      troff(
          "Predicts how fast a DNN trains on described hardware, what limits it, whether it fits in memory, how far it scales "
          "over GPUs and machines, and what it costs. Results go to standard output, notes and errors to standard error.") +
      "\n.SH VERBS\n";
  for (const VerbHelp& verb : verbs) {
    page += fmt::format(".SS {}\n{}.\n", verb.name, troff(verb.text));
    for (const OptionHelp& option : verb.options) page += fmt::format(".TP\n{}\n{}\n", option_words(option), troff(option.text));
    for (const Example& example : examples(verb.name))
      page += fmt::format(".PP\n{}\n.br\n\\fBtbdsim {}\\fR\n", troff(example.question), troff(example.command));
  }
  for (const Section& section : kSections) page += fmt::format(".SH {}\n{}\n", section.title, troff(section.text));
  page += ".SH GLOSSARY\n";
  for (const GlossaryEntry& entry : glossary()) page += fmt::format(".TP\n{}\n{}\n", troff(entry.term), troff(entry.meaning));
  return page;
}

std::string bash_completion(const std::vector<VerbHelp>& verbs) {
  std::string script =
      "# Completion of tbdsim for bash, made by `tbdsim docs bash`.\n"
      "_tbdsim() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} options=\n"
      "  COMPREPLY=()\n";
  script +=
      fmt::format("  if [ \"$COMP_CWORD\" = 1 ]; then COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\")); return; fi\n",
                  names_of(verbs));
  script += "  case \"$verb $before\" in\n";
  // An option of several verbs may take other words at each.
  std::vector<std::pair<std::string, std::string>> offers;  // what is offered, and after which words
  for (const VerbHelp& verb : verbs) {
    for (const OptionHelp& option : verb.options) {
      const std::string values = bash_values(option, true), after = fmt::format("'{} {}'", verb.name, option.name);
      if (option.bare() || values.empty()) continue;
      const auto same = std::find_if(offers.begin(), offers.end(), [&](const auto& offer) { return offer.first == values; });
      if (same == offers.end())
        offers.emplace_back(values, after);
      else
        same->second += "|" + after;
    }
  }
  for (const auto& [values, after] : offers) script += fmt::format("    {}) {}; return ;;\n", after, values);
  script += "  esac\n  case $verb in\n";
  for (const VerbHelp& verb : verbs) script += fmt::format("    {}) options='{}' ;;\n", verb.name, long_options(verb));
  script +=
      "  esac\n"
      "  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$word\")); return; fi\n"
      "  case $verb in\n";
  for (const VerbHelp& verb : verbs)
    if (const std::string values = bash_values(bare_word(verb), false); !values.empty())
      script += fmt::format("    {}) {} ;;\n", verb.name, values);
  script +=
      "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
      "  esac\n"
      "}\n"
      "complete -o filenames -F _tbdsim tbdsim\n";
  return script;
}

std::string zsh_completion(const std::vector<VerbHelp>& verbs) {
  const auto quoted = [](const std::string& text) {
    std::string safe;
    for (const char c : text) {
      if (c == '[' || c == ']' || c == ':') safe += '\\';
      safe += c == '\'' ? std::string("'\\''") : std::string(1, c == '\n' ? ' ' : c);
    }
    return safe;
  };
  std::string script =
      "#compdef tbdsim\n# Completion of tbdsim for zsh, made by `tbdsim docs zsh`.\n"
      "_tbdsim_names() {\n  local kind\n  local -a names\n"
      "  names=(${(f)\"$(for kind in $argv; do tbdsim list $kind --format csv 2>/dev/null | cut -d, -f2 | tail -n +2; "
      "done)\"})\n  compadd -a names\n  _files\n}\n_tbdsim() {\n";
  script += "  if (( CURRENT == 2 )); then\n    local -a verbs=(\n";
  for (const VerbHelp& verb : verbs) script += fmt::format("      '{}:{}'\n", verb.name, quoted(verb.text));
  script += "    )\n    _describe verb verbs; return\n  fi\n  case $words[2] in\n";
  for (const VerbHelp& verb : verbs) {
    script += fmt::format("    {}) _arguments", verb.name);
    for (const OptionHelp& option : verb.options) {
      if (option.bare()) continue;
      script += fmt::format(" \\\n      '{}[{}]{}'", option.name, quoted(option.text),
                            option.value.empty() ? "" : fmt::format(":{}:{}", quoted(option.value), zsh_values(option)));
    }
    script += fmt::format(" \\\n      '{}' ;;\n", zsh_words(verb));
  }
  return script + "  esac\n}\n_tbdsim \"$@\"\n";
}

std::string fish_completion(const std::vector<VerbHelp>& verbs) {
  const auto quoted = [](const std::string& text) {
    std::string safe = "'";
    for (const char c : text) {
      if (c == '\'' || c == '\\') safe += '\\';
      safe += c == '\n' ? ' ' : c;
    }
    return safe + "'";
  };
  // Values: words, or names of the catalogue; files too where nothing else is known.
  const auto values = [&](const OptionHelp& option) -> std::string {
    if (!option.words.empty()) return " -x -a " + quoted(option.words);
    if (!option.kinds.empty()) return " -r -a " + quoted(fmt::format("(__tbdsim_names {})", option.kinds));
    return option.value.empty() ? "" : option.value.find("FILE") != std::string::npos ? " -r -F" : " -x";
  };
  std::string script =
      "# Completion of tbdsim for fish, made by `tbdsim docs fish`.\n"
      "function __tbdsim_names\n"
      "  for kind in $argv\n    tbdsim list $kind --format csv 2>/dev/null | cut -d, -f2 | tail -n +2\n  end\nend\n"
      "complete -c tbdsim -n __fish_use_subcommand -f -l help -d 'Print this help'\n"
      "complete -c tbdsim -n __fish_use_subcommand -f -l version -d 'Print the version'\n"
      "complete -c tbdsim -n __fish_use_subcommand -f -a help -d 'Print the help of a verb'\n"
      "complete -c tbdsim -n '__fish_seen_subcommand_from calibrate' -a 'fit check anchor import collect profile host formats'\n";
  script += fmt::format("complete -c tbdsim -n '__fish_seen_subcommand_from help' -f -a '{}'\n", names_of(verbs));
  for (const VerbHelp& verb : verbs) {
    script += fmt::format("complete -c tbdsim -n __fish_use_subcommand -f -a {} -d {}\n", verb.name, quoted(verb.text));
    const std::string within = fmt::format("complete -c tbdsim -n '__fish_seen_subcommand_from {}'", verb.name);
    for (const OptionHelp& option : verb.options)
      script += option.bare()
                    ? (values(option).empty() ? "" : fmt::format("{} -f{}\n", within, values(option).substr(3)))
                    : fmt::format("{} -l {}{} -d {}\n", within, option.name.substr(2), values(option), quoted(option.text));
  }
  return script;
}

}  // namespace tbdsim
