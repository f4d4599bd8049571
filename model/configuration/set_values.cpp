// Long because finding, checking and applying a value go over the same records of what was read.
#include "model/configuration/set_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "model/configuration/dependent_values.hpp"
#include "model/configuration/network_notices.hpp"
#include "model/configuration/what_if.hpp"
#include "model/input/toml_value.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 5> kPrefixes{"hw", "model", "stack", "network", "operations"};
constexpr std::string_view kKernels = "hw.kernels";
const std::string kModel = "model.";
constexpr std::string_view kHardware = "hw.";
/// More matches than this do not help to choose.
constexpr std::size_t kMostMatches = 8;

/// Names that `parallel.` takes.
std::vector<std::string> parallel_names() {
  std::vector<std::string> names;
  for (const OptionRow& row : option_table()) {
    if (!row.stands(kInSet)) continue;
    names.push_back(key_of(row));
    if (!row.key.empty()) names.emplace_back(row.name);
  }
  return names;
}

std::pair<std::string, std::string> split_last(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return {"", path};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

std::string joined(const std::string& role, const std::string& path) {
  return path.empty() ? role : path.front() == '[' ? role + path : role + "." + path;
}

bool ends_with_key(const std::string& full, const std::string& key) {
  if (full == key) return true;
  return full.size() > key.size() && full[full.size() - key.size() - 1] == '.' &&
         full.compare(full.size() - key.size(), key.size(), key) == 0;
}

std::string quoted_literal(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  return literal + '"';
}

/// The number at the start of "25 GB/s" times `factor`, with the rest as it stands.
std::optional<std::string> multiplied(const std::string& text, double factor) {
  double number = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || !std::isfinite(number)) return std::nullopt;
  return fmt::format("{}{}", number * factor, std::string(end, text.data() + text.size()));
}

/// Whether a bare number stands for a share that the document writes in percent: 0.9 for "76 %".
bool replaces_share(const DocumentLeaf& leaf, const std::string& value) {
  const auto literal = toml_literal(value);
  const bool number = literal && (literal->kind == TomlValue::Kind::integer || literal->kind == TomlValue::Kind::decimal);
  return number && !leaf.literal.empty() && leaf.literal.back() == '%';
}

/// One value of one document.
struct Match {
  const DocumentRecord* document = nullptr;
  const DocumentLeaf* leaf = nullptr;
  [[nodiscard]] std::string key() const { return joined(document->role, leaf->path); }
};

class Resolver {
 public:
  Resolver(const std::vector<std::string>& assignments, const std::vector<DocumentRecord>& documents,
           const PredictOptions& options)
      : assignments_(assignments), documents_(documents), options_(options) {}

  ResolvedValues resolve() {
    for (std::size_t i = 0; i < assignments_.size(); ++i) one(assignments_[i], static_cast<int>(i) + 1);
    follow();
    return std::move(resolved_);
  }

 private:
  struct Change {
    const DocumentRecord* document = nullptr;
    std::string table, name, old_literal, new_literal;
    std::size_t notice = 0;
    [[nodiscard]] std::string beside(std::string_view key) const {
      return joined(joined(document->role, table), std::string(key));
    }
  };

  const std::vector<std::string>& assignments_;
  const std::vector<DocumentRecord>& documents_;
  const PredictOptions& options_;
  ResolvedValues resolved_;
  std::vector<Change> changed_;

  [[nodiscard]] Error place(int line, std::string message) const {
    const std::string& text = assignments_[static_cast<std::size_t>(line - 1)];
    const int width = static_cast<int>(std::min(text.find('='), text.size()));
    return {std::move(message), SourceRef{kAssignments, line, 1}, text, std::max(width, 1)};
  }
  void problem(int line, std::string message) { resolved_.errors.push_back(place(line, std::move(message))); }

  void one(const std::string& text, int line) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 >= text.size())
      return problem(line, fmt::format("expected KEY=VALUE, got {}", quoted(text)));
    // A key with a question mark is passed over where nothing has it.
    const bool optional = text[equals - 1] == '?';
    const std::string key = text.substr(0, optional ? equals - 1 : equals), value = text.substr(equals + 1);
    // What no file could hold would change nothing.
    if (!toml_literal(quoted_literal(value)))
      return problem(line, fmt::format("{}: expected a value in printable UTF-8, got {}", key, quoted(value)));
    if (other_network(key))
      return problem(line,
                     fmt::format("{}: the job's network is {}: use {}", key, options_.network, key.substr(kHardware.size())));
    Edit edit{"", "", text, line, static_cast<int>(equals) + 2};
    const std::vector<Match> matches = find(key);
    const OptionRow* const option = option_of(key);
    if (matches.size() == 1 && hides_option(key, matches.front()))
      return problem(line, fmt::format("{}: fits 2 values: {}, parallel.{}", key, matches.front().key(), split_last(key).second));
    if (matches.size() + (option != nullptr ? 1 : 0) > 1) return several(line, key, matches, option != nullptr);
    if (option != nullptr) return set_option(line, key, *option, value);
    if (matches.size() == 1) return change(line, matches.front(), value, std::move(edit));
    if (optional) return;
    add(line, key, value, std::move(edit));
  }

  /// Whether a key is of the hardware's own network beside another, which joins the nodes in its place.
  [[nodiscard]] bool other_network(const std::string& key) const {
    return !options_.network.empty() && key.starts_with("hw.network.");
  }

  /// Whether a shortened key ends as a table of the hardware does, and as an option of the job: `hw.nodes`.
  static bool hides_option(const std::string& key, const Match& match) {
    const auto [table, last] = split_last(key);
    return table == "hw" && match.key() != key && find_key(last, kInSet) != nullptr;
  }

  /// Values whose full key is `key`, else those whose path ends so.
  std::vector<Match> find(const std::string& key) const {
    const std::size_t dot = key.find('.');
    const std::string prefix = key.substr(0, dot);
    const bool prefixed = dot != std::string::npos && std::find(kPrefixes.begin(), kPrefixes.end(), prefix) != kPrefixes.end();
    std::vector<Match> found;
    if (prefixed) found = find(key, prefix, key.substr(dot + 1));
    return found.empty() ? find(key, "", key) : found;
  }

  /// As above, of the documents of one prefix (empty: any); `rest` is the key without it.
  std::vector<Match> find(const std::string& key, const std::string& prefix, const std::string& rest) const {
    std::vector<Match> ends;
    std::set<std::string> seen;
    for (const DocumentRecord& document : documents_) {
      // The fitted kernel parameters repeat names of devices and their keys; who means them says so.
      if (document.role == kKernels && rest.compare(0, 8, "kernels.") != 0) continue;
      const bool may =
          prefix.empty() || document.role == prefix || document.role.compare(0, prefix.size() + 1, prefix + ".") == 0;
      for (const DocumentLeaf& leaf : document.leaves) {
        const Match match{&document, &leaf};
        if (other_network(match.key())) continue;
        for (const std::string& path : {leaf.path, leaf.alias}) {
          if (path.empty()) continue;
          const std::string full = joined(document.role, path);
          // Layers go by their names: "model.conv1.channels" is not the conv1 of another block.
          if (full == key || (document.role == "model" && full == "model.layer." + rest)) return {match};
          if (may && ends_with_key(full, rest) && seen.insert(match.key()).second) ends.push_back(match);
        }
      }
    }
    return ends;
  }

  static const OptionRow* option_of(const std::string& key) {
    const std::string name = key.compare(0, 9, "parallel.") == 0 ? key.substr(9) : key;
    // Without its prefix `network` would hide a table of the hardware.
    return name == key && name == "network" ? nullptr : find_key(name, kInSet);
  }

  void several(int line, const std::string& key, const std::vector<Match>& matches, bool option) {
    std::vector<std::string> keys;
    keys.reserve(matches.size() + 1);
    for (const Match& match : matches) keys.push_back(match.key());
    if (option) keys.push_back("parallel." + key);
    const std::size_t all = keys.size();
    keys.resize(std::min(all, kMostMatches));
    problem(line, fmt::format("{}: fits {} values: {}{}", key, all, fmt::join(keys, ", "), all > keys.size() ? ", ..." : ""));
  }

  /// What becomes of it is told where the job is known.
  void set_option(int line, const std::string& key, const OptionRow& option, const std::string& value) {
    resolved_.options.push_back({&option, value, factor_of(value), key, place(line, ""), resolved_.notices.size()});
    resolved_.notices.emplace_back();
  }

  /// What stands as `name` in the table of `match`, with the changes so far; empty: nothing.
  [[nodiscard]] std::string beside(const Match& match, const std::string& name) const {
    const std::string table = split_last(match.leaf->path).first;
    const DocumentLeaf* const leaf = leaf_of(*match.document, table, name);
    if (leaf == nullptr) return "";
    for (auto edit = resolved_.changes.rbegin(); edit != resolved_.changes.rend(); ++edit) {
      if (edit->key != joined(match.document->role, leaf->path)) continue;
      const auto literal = toml_literal(edit->literal);
      return literal && leaf->text ? literal->text : edit->literal;
    }
    return leaf->literal;
  }

  static const DocumentLeaf* leaf_of(const DocumentRecord& document, const std::string& table, std::string_view name) {
    for (const DocumentLeaf& leaf : document.leaves)
      if (split_last(leaf.path) == std::pair(table, std::string(name))) return &leaf;
    return nullptr;
  }

  /// `value` in the place of a value that the document states.
  void change(int line, const Match& match, const std::string& value, Edit edit) {
    edit.key = match.key();
    const DocumentLeaf& leaf = *match.leaf;
    const std::size_t space = std::min(value.find(' '), value.size());
    if (const auto factor = factor_of(value.substr(0, space))) {
      const std::string base = beside(match, space < value.size() ? value.substr(space + 1) : split_last(leaf.path).second);
      const auto product = multiplied(base, *factor);
      if (!product)
        return problem(line, fmt::format("{}: {} multiplies a number, got {}", edit.key, quoted(value), quoted(base)));
      edit.literal = leaf.text ? quoted_literal(*product) : *product;
    } else if (leaf.text) {
      const bool whole = (value.front() == '"' && toml_literal(value)) || replaces_share(leaf, value);
      edit.literal = whole ? value : quoted_literal(value);
    } else {
      edit.literal = toml_literal(value) ? value : quoted_literal(value);
    }
    const std::string stood = beside(match, split_last(leaf.path).second);
    const std::string old = leaf.text ? quoted_literal(stood) : stood;
    if (edit.literal == old) {
      // What stays as it is, is told of a named change alone, and not of one with several values, of which some may stand.
      if (is_named_change(edit.text)) resolved_.notices.push_back(stood_notice(edit.text, old));
    } else {
      resolved_.notices.push_back(fmt::format("{}: {} becomes {}", edit.key, old, edit.literal));
      const auto [table, name] = split_last(leaf.path);
      changed_.push_back({match.document, table, name, leaf.literal, edit.literal, resolved_.notices.size() - 1});
    }
    resolved_.changes.push_back(std::move(edit));
  }

  /// A key that no document states, in a table that one has.
  void add(int line, const std::string& key, const std::string& value, Edit edit) {
    const auto [parent, last] = split_last(key);
    const DocumentRecord* document = nullptr;
    std::string table;
    for (const DocumentRecord& candidate : documents_) {
      for (const std::string& path : candidate.tables) {
        const std::string full = joined(candidate.role, path);
        const bool first_of_prefix =
            document == nullptr && path.empty() && candidate.role.substr(0, candidate.role.find('.')) == parent;
        if (parent.empty() || (full != parent && !first_of_prefix)) continue;
        document = &candidate;
        table = path;
      }
      for (const Layer& layer : layers_of(candidate)) {
        if (parent != kModel + layer.name && parent != "model.layer." + layer.name) continue;
        document = &candidate;
        table = layer.table;
      }
    }
    const bool bare = !last.empty() && last.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos;
    if (document == nullptr || !bare || factor_of(value)) return unknown(line, key);
    edit.key = joined(joined(document->role, table), last);
    edit.literal = toml_literal(value) ? value : quoted_literal(value);
    resolved_.notices.push_back(fmt::format("{} set to {}", edit.key, edit.literal));
    changed_.push_back({document, table, last, "", edit.literal, resolved_.notices.size() - 1});
    resolved_.changes.push_back(std::move(edit));
  }

  /// A layer of a network's document, and where it stands.
  struct Layer {
    std::string name, table;
  };
  static std::vector<Layer> layers_of(const DocumentRecord& document) {
    std::vector<Layer> layers;
    if (document.role != "model") return layers;
    for (const DocumentLeaf& leaf : document.leaves) {
      const auto [table, last] = split_last(leaf.path);
      if (last == "name" && table.starts_with("layer[")) layers.push_back({leaf.literal, table});
    }
    return layers;
  }

  void unknown(int line, const std::string& key) {
    const bool model = key.starts_with(kModel);
    const bool file =
        std::any_of(documents_.begin(), documents_.end(), [](const DocumentRecord& d) { return d.role == "model"; });
    if (model && !file)
      return problem(
          line, fmt::format("{}: {} is imported; only a network of the catalogue or a TOML file holds values that can be set",
                            key, options_.model));
    const bool operations =
        std::any_of(documents_.begin(), documents_.end(), [](const auto& d) { return d.role == "operations"; });
    if (key.starts_with("operations.") && !operations)
      return problem(line, fmt::format("{}: is assumed of a whole run; ask for one with --tokens", key));
    if (model && key.find('.', kModel.size()) != std::string::npos) return unknown_layer(line, key);
    std::vector<std::string> known, names;
    for (const std::string& name : parallel_names()) known.push_back("parallel." + name);
    for (const DocumentRecord& document : documents_) {
      for (const DocumentLeaf& leaf : document.leaves) {
        known.push_back(joined(document.role, leaf.path));
        names.push_back(split_last(leaf.path).second);
      }
    }
    const auto [table, last] = split_last(key);
    const bool short_key = table.find('.') == std::string::npos;
    auto near = short_key ? nearest(last, names) : nearest(key, known);
    if (!near) near = short_key ? nearest(key, known) : nearest(last, names);
    std::string hint = near ? fmt::format(", did you mean \"{}\"?", *near) : "";
    if (near == last) hint = "; there are " + listed_ends(known, "." + last);
    const bool network = key.starts_with("network.") || key.starts_with("hw.network.");
    if (network && std::none_of(known.begin(), known.end(), [](const std::string& k) { return k.starts_with("hw.network."); }))
      hint = "; the job has no network between nodes, name one with --network";
    problem(line, fmt::format("{}: no input file has such a value{}", key, hint));
  }

  /// A few of the keys that end so.
  static std::string listed_ends(const std::vector<std::string>& known, const std::string& end) {
    constexpr std::size_t kMost = 4;
    std::vector<std::string> found;
    for (const std::string& key : known)
      if (key.ends_with(end) && std::find(found.begin(), found.end(), key) == found.end()) found.push_back(key);
    const bool more = found.size() > kMost;
    found.resize(std::min(found.size(), kMost));
    return fmt::format("{}{}", fmt::join(found, ", "), more ? ", ..." : "");
  }

  /// A layer that the network does not have, or one without this key.
  void unknown_layer(int line, const std::string& key) {
    const std::string layer = split_last(key).first.substr(kModel.size());
    std::vector<std::string> layers;
    for (const DocumentRecord& document : documents_)
      for (Layer& known : layers_of(document)) layers.push_back(std::move(known.name));
    const auto near = nearest(layer, layers);
    problem(line, fmt::format("{}: {} has no layer {}{}; `tbdsim show {} --as toml` lists them", key, options_.model,
                              quoted(layer), near ? fmt::format(", did you mean {}?", quoted(*near)) : "", options_.model));
  }

  /// What follows from a changed value, where it is not given as well.
  void follow() {
    std::set<std::string> given;
    for (const Edit& edit : resolved_.changes) given.insert(edit.key);
    const std::vector<Change> asked = changed_;
    for (const Change& change : asked) {
      for (const ProportionalValues& rule : proportional_values()) {
        if (rule.key == change.name) scale(change, rule, given);
      }
    }
    for (const Change& change : asked) {
      for (const ImpliedValues& rule : implied_values()) {
        if (rule.key == change.name && rule.position == change.new_literal) imply(change, rule, given);
      }
    }
  }

  /// The user's edit behind a change.
  [[nodiscard]] const Edit& edit_of(const Change& asked) const {
    return *std::find_if(resolved_.changes.begin(), resolved_.changes.end(),
                         [&](const Edit& edit) { return edit.key == asked.beside(asked.name); });
  }

  void scale(const Change& asked, const ProportionalValues& rule, const std::set<std::string>& given) {
    const auto literal = toml_literal(asked.new_literal);
    const auto before = parse_measured(asked.old_literal), after = parse_measured(literal ? literal->text : "");
    if (!before || !after || before->dimension != after->dimension || before->base == 0.0) return;
    std::vector<std::string_view> moved;
    Edit edit = edit_of(asked);
    for (const std::string_view follower : rule.followers) {
      const DocumentLeaf* const leaf = leaf_of(*asked.document, asked.table, follower);
      const auto product = multiplied(leaf == nullptr ? "" : leaf->literal, after->base / before->base);
      edit.key = asked.beside(follower);
      if (!product || given.count(edit.key) > 0) continue;
      edit.literal = quoted_literal(*product);
      resolved_.changes.push_back(edit);
      moved.push_back(follower);
    }
    if (!moved.empty()) resolved_.notices[asked.notice] += fmt::format("; {} in proportion", fmt::join(moved, ", "));
  }

  /// Writes down under another name what holds so far for the transport that a network had.
  void keep(const Change& asked, const ImpliedValues& rule, const std::set<std::string>& given) {
    const auto stated = [&](std::string_view name) { return leaf_of(*asked.document, asked.table, name); };
    const DocumentLeaf* const transport = stated("transport");
    const std::string spoken = transport == nullptr ? std::string(rule.kept_of) : transport->literal;
    if (asked.old_literal == rule.position || spoken != rule.kept_of) return;
    for (const auto& [name, source] : rule.kept) {
      const DocumentLeaf* const leaf = stated(source);
      if (leaf == nullptr || stated(name) != nullptr || given.count(asked.beside(name)) > 0) continue;
      Edit edit = edit_of(asked);
      edit.key = asked.beside(name);
      edit.literal = quoted_literal(beside({asked.document, leaf}, std::string(source)));
      resolved_.changes.push_back(std::move(edit));
    }
  }

  void imply(const Change& asked, const ImpliedValues& rule, const std::set<std::string>& given) {
    keep(asked, rule, given);
    for (const auto& [name, value] : rule.values) {
      const DocumentLeaf* const leaf = leaf_of(*asked.document, asked.table, name);
      if (leaf == nullptr || given.count(asked.beside(name)) > 0) continue;
      const Edit edit = edit_of(asked);
      change(edit.line, {asked.document, leaf}, value, edit);
    }
  }
};

}  // namespace

ResolvedValues resolve_values(const std::vector<std::string>& assignments, const std::vector<DocumentRecord>& documents,
                              const PredictOptions& options) {
  return Resolver(assignments, documents, options).resolve();
}

Result<Catalogue> edited_hardware(const Catalogue& catalogue, const PredictOptions& options, std::vector<std::string>& notices) {
  if (options.set.empty()) return catalogue;
  const auto records = std::make_shared<std::vector<DocumentRecord>>();
  const Catalogue noting{catalogue.root, std::make_shared<const Edits>(Edits{{}, records}), catalogue.architectures};
  const auto system = load_system(noting, options.hardware, std::max(1, options.gpus.value_or(1)));
  if (!system) return tl::make_unexpected(system.error());
  if (!options.network.empty())
    if (const auto network = load_network(noting, options.network); !network) return tl::make_unexpected(network.error());
  auto resolved = resolve_values(options.set, *records, options);
  if (!resolved.errors.empty()) return tl::make_unexpected(std::move(resolved.errors));
  if (!resolved.options.empty()) return fail("--set: only values of the hardware (hw.) and of the network mean something here");
  notices.insert(notices.end(), resolved.notices.begin(), resolved.notices.end());
  return Catalogue{catalogue.root, std::make_shared<const Edits>(Edits{std::move(resolved.changes), nullptr}),
                   catalogue.architectures};
}

}  // namespace tbdsim
