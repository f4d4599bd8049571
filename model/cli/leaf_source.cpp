#include "model/cli/leaf_source.hpp"
#include "model/cli/parse_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/cli/command.hpp"
#include "model/report/json_leaves.hpp"
#include "model/support/edit_distance.hpp"

namespace tbdsim {
namespace {

using Options = std::vector<ClaimOption>;

/// A verb whose output claims may ask for. It needs an overload of `answer` in command.hpp, and no more.
struct LeafVerb {
  std::string_view name;
  std::string_view positional;  ///< the option that stands for the verb's bare word; empty: it takes none
  /// Defaults of a scenario that the verb takes; those of a job mean nothing to the others. Empty: all.
  std::vector<std::string_view> defaults = {};
};
const std::vector<LeafVerb>& leaf_verbs() {
  static const std::vector<LeafVerb> kVerbs{
      {"predict", ""},
      {"topology", "", {"hw", "gpus"}},
      {"show", "name", {"name"}},
      {"scale", ""},
      {"network", ""},
      {"memory", "", {"hw", "model", "stack", "batch", "image", "gpus", "nodes", "precision", "exchange", "optimizer"}}};
  return kVerbs;
}

/// The command line of a verb. A flag is an option whose value is true; the two ends of `route` are two words. No value begins
/// with a dash (`claim_option_problem`).
std::vector<std::string> words_of(const LeafVerb& verb, const std::vector<ClaimOption>& stated,
                                  const std::vector<ClaimOption>& defaults) {
  std::vector<std::string> words{std::string(verb.name)};
  const auto add = [&](const ClaimOption& option) {
    const auto& [name, value] = option;
    if (name == verb.positional) {
      words.push_back(value);
    } else if (name == "route") {
      const std::size_t blank = std::min(value.find(' '), value.size());
      words.insert(words.end(), {"--route", value.substr(0, blank)});
      if (blank < value.size()) words.push_back(value.substr(blank + 1));
    } else {
      // In one word, so that no value is taken for an option.
      words.push_back(value == "true" ? "--" + name : fmt::format("--{}={}", name, value));
    }
  };
  for (const ClaimOption& option : stated) add(option);
  for (const ClaimOption& option : defaults) {
    const auto& taken = verb.defaults;
    if (taken.empty() || std::find(taken.begin(), taken.end(), option.first) != taken.end()) add(option);
  }
  return words;
}

/// What a verb said: its leaves, or why there are none.
struct Reply {
  bool usable = false;  ///< it takes these options
  std::vector<JsonLeaf> leaves;
  Errors errors;
};

Reply ask(const std::vector<std::string>& words, Session& session) {
  std::vector<std::string> all{"tbdsim"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  argv.reserve(all.size());
  for (std::string& word : all) argv.push_back(word.data());
  auto arguments = parse_arguments(static_cast<int>(argv.size()), argv.data());
  if (!arguments) return {false, {}, {Error{arguments.error().text}}};
  const auto answered = std::visit(
      [&](auto& of_verb) -> Result<Answer> {
        if constexpr (requires { answer(of_verb, session); }) {
          of_verb.format = Format::json;
          return answer(of_verb, session);
        } else {
          return fail("claims cannot ask this verb");
        }
      },
      *arguments);
  if (!answered) return {true, {}, answered.error()};
  return {true, json_leaves(answered->text), {}};
}

/// Keeps what verbs said, so that a table of claims asks each question once.
class Leaves {
 public:
  explicit Leaves(std::shared_ptr<Session> session) : session_(std::move(session)) {}

  Result<LeafValues> find(const std::string& name, const Options& stated, const Options& defaults) {
    const std::string first = name.substr(0, name.find('.'));
    Errors refused, failed;
    std::vector<std::string> known;
    for (const LeafVerb& verb : leaf_verbs()) {
      if (verb.name == first && first != name) return find_in(verb, name.substr(first.size() + 1), stated, defaults);
    }
    for (const LeafVerb& verb : leaf_verbs()) {
      const Reply& reply = reply_of(verb, stated, defaults);
      if (!reply.errors.empty()) {
        (reply.usable ? failed : refused).push_back(reply.errors.front());
        continue;
      }
      auto found = pick_leaf(reply.leaves, name);
      if (!found) return tl::make_unexpected(found.error());
      if (*found) return std::move(**found);
      for (const JsonLeaf& leaf : reply.leaves) known.push_back(leaf.path.substr(leaf.path.rfind('.') + 1));
    }
    if (known.empty()) return tl::make_unexpected(failed.empty() ? refused : failed);
    return unknown(name, known);
  }

 private:
  std::shared_ptr<Session> session_;
  std::map<std::vector<std::string>, Reply> replies_;

  static Result<LeafValues> unknown(const std::string& name, const std::vector<std::string>& known) {
    const auto near = nearest(name, known);
    return fail(fmt::format("no verb that takes these options has a leaf {}{}", name,
                            near ? fmt::format(", did you mean {}?", *near) : ""));
  }

  const Reply& reply_of(const LeafVerb& verb, const Options& stated, const Options& defaults) {
    std::vector<std::string> words = words_of(verb, stated, defaults);
    const auto found = replies_.find(words);
    if (found != replies_.end()) return found->second;
    Reply reply = ask(words, *session_);
    return replies_.emplace(std::move(words), std::move(reply)).first->second;
  }

  Result<LeafValues> find_in(const LeafVerb& verb, const std::string& name, const Options& stated, const Options& defaults) {
    const Reply& reply = reply_of(verb, stated, defaults);
    if (!reply.errors.empty()) return tl::make_unexpected(reply.errors);
    auto found = pick_leaf(reply.leaves, name);
    if (!found) return tl::make_unexpected(found.error());
    if (*found) return std::move(**found);
    std::vector<std::string> known;
    for (const JsonLeaf& leaf : reply.leaves) known.push_back(leaf.path);
    return unknown(name, known);
  }
};

}  // namespace

LeafSource verb_leaves(std::shared_ptr<Session> session) {
  auto leaves = std::make_shared<Leaves>(std::move(session));
  return [leaves](const std::string& name, const Options& stated, const Options& defaults) {
    return leaves->find(name, stated, defaults);
  };
}

}  // namespace tbdsim
