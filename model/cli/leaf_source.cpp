#include "model/cli/leaf_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "model/cli/question.hpp"
#include "model/configuration/network_notices.hpp"
#include "model/report/json_leaves.hpp"
#include "model/support/edit_distance.hpp"
#include "model/validation/claim_options.hpp"

namespace tbdsim {
namespace {

using Options = std::vector<ClaimOption>;

/// A verb whose output claims may ask for. It needs an answer in JSON, and no more.
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

/// What is asked of a verb.
Question question_of(const LeafVerb& verb, const std::vector<ClaimOption>& stated, const std::vector<ClaimOption>& defaults) {
  Question question{std::string(verb.name), {}};
  const auto add = [&](const ClaimOption& option) {
    if (option.first == verb.positional)
      question.words.push_back(option.second);
    else
      question.options.push_back(option);
  };
  for (const ClaimOption& option : stated) add(option);
  for (const ClaimOption& option : defaults) {
    const auto& taken = verb.defaults;
    if (taken.empty() || std::find(taken.begin(), taken.end(), option.first) != taken.end()) add(option);
  }
  return question;
}

/// What a verb said: its leaves, or why there are none.
struct Reply {
  bool usable = false;  ///< it takes these options
  std::vector<JsonLeaf> leaves;
  Errors errors;
  std::vector<std::string> idle = {};  ///< what it said of options without effect
};

Reply ask(const Question& question, Session& session) {
  const auto arguments = read_question(question);
  if (!arguments) return {false, {}, arguments.error()};
  const auto answered = answer_json(*arguments, session);
  if (!answered) return {true, {}, answered.error()};
  Reply reply{true, json_leaves(answered->text), {}};
  std::copy_if(answered->notices.begin(), answered->notices.end(), std::back_inserter(reply.idle), is_no_effect_notice);
  return reply;
}

/// Whether a call itself states the option; those of its scenario may do nothing in some of the calls.
bool states(const Options& stated, const IdleOption& idle) {
  const bool set = idle.name == kAssignments;
  const std::string option = idle.name.starts_with("--") ? idle.name.substr(2) : idle.name;
  return std::any_of(stated.begin(), stated.end(), [&](const ClaimOption& given) {
    return given.first == option || (set && given.first == "what-if") ||
           (given.first == "set" && given.second.starts_with(fmt::format("parallel.{}=", option)));
  });
}

Options without(Options options, const std::string& name) {
  std::erase_if(options, [&](const ClaimOption& option) { return option.first == name; });
  return options;
}

/// Keeps what verbs said, so that a table of claims asks each question once.
class Leaves {
 public:
  explicit Leaves(Session& session) : session_(session) {}

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
      if (*found) return unless_idle(verb, name, std::move(**found), stated, defaults);
      for (const JsonLeaf& leaf : reply.leaves) known.push_back(leaf.path.substr(leaf.path.rfind('.') + 1));
    }
    if (known.empty()) return tl::make_unexpected(failed.empty() ? refused : failed);
    return unknown(name, known);
  }

 private:
  Session& session_;
  std::map<Question, Reply> replies_;

  static Result<LeafValues> unknown(const std::string& name, const std::vector<std::string>& known) {
    const auto near = nearest(name, known);
    return fail(fmt::format("no verb that takes these options has a leaf {}{}", name,
                            near ? fmt::format(", did you mean {}?", *near) : ""));
  }

  const Reply& reply_of(const LeafVerb& verb, const Options& stated, const Options& defaults) {
    Question question = question_of(verb, stated, defaults);
    const auto found = replies_.find(question);
    if (found != replies_.end()) return found->second;
    Reply reply = ask(question, session_);
    return replies_.emplace(std::move(question), std::move(reply)).first->second;
  }

  /// A leaf that was found, unless the call states an option without effect: its claim is of something else then. So is a flag
  /// that adds a part of which the leaf is none.
  Result<LeafValues> unless_idle(const LeafVerb& verb, const std::string& name, LeafValues values, const Options& stated,
                                 const Options& defaults) {
    for (const std::string& notice : reply_of(verb, stated, defaults).idle)
      if (const auto idle = idle_option(notice); idle && states(stated, *idle)) return fail(notice);
    for (const auto& [option, value] : stated) {
      if (!adds_part(option)) continue;
      const auto plain = pick_leaf(reply_of(verb, without(stated, option), without(defaults, option)).leaves, name);
      if (plain && *plain)
        return fail(fmt::format("{}={}: without effect, since {} is no part of what it adds; leave it out", option, value, name));
    }
    return values;
  }

  Result<LeafValues> find_in(const LeafVerb& verb, const std::string& name, const Options& stated, const Options& defaults) {
    const Reply& reply = reply_of(verb, stated, defaults);
    if (!reply.errors.empty()) return tl::make_unexpected(reply.errors);
    auto found = pick_leaf(reply.leaves, name);
    if (!found) return tl::make_unexpected(found.error());
    if (*found) return unless_idle(verb, name, std::move(**found), stated, defaults);
    std::vector<std::string> known;
    for (const JsonLeaf& leaf : reply.leaves) known.push_back(leaf.path);
    return unknown(name, known);
  }
};

}  // namespace

LeafSource verb_leaves(Session& session) {
  auto leaves = std::make_shared<Leaves>(session);
  return [leaves](const std::string& name, const Options& stated, const Options& defaults) {
    return leaves->find(name, stated, defaults);
  };
}

}  // namespace tbdsim
