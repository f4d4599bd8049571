#include "model/input/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>

namespace tbdsim {
namespace {

constexpr std::size_t kMostBytes = std::size_t{8} << 20;
constexpr std::size_t kMostDepth = 32;

struct Value;
using Array = std::vector<Value>;
struct Member;
using Members = std::vector<Member>;

/// A value with where it begins; of a member, where its key ends.
struct Value {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Members> is;
  std::size_t at = 0;
};
struct Member {
  std::string key;
  Value value;
};

const char* type_name(const Value& value) {
  constexpr const char* kNames[] = {"null", "true or false", "a whole number", "a number", "text", "a list", "an object"};
  return kNames[value.is.index()];
}

/// Reads characters and tells how far reading has come.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  const char* at;
  const char** furthest;
  reference operator*() const { return *at; }
  Cursor& operator++() {
    *furthest = ++at;
    return *this;
  }
  Cursor operator++(int) {
    Cursor before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Cursor& other) const { return at == other.at; }
  bool operator!=(const Cursor& other) const { return at != other.at; }
};

/// Builds values from the events of the parser, and stops it where they nest too deep.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(const char* begin, const char** furthest) : begin_(begin), furthest_(furthest) {}

  Value root;
  std::string trouble;
  std::size_t trouble_at = 0;

  bool null() override { return put(std::monostate{}); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(std::int64_t value) override { return put(value); }
  bool number_unsigned(std::uint64_t value) override {
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return put(static_cast<std::int64_t>(value));
    return put(static_cast<double>(value));
  }
  bool number_float(double value, const std::string&) override { return put(value); }
  bool string(std::string& value) override { return put(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Members{}); }
  bool start_array(std::size_t) override { return open(Array{}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& value) override {
    key_ = std::move(value);
    key_at_ = here();
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."; the place is told beside it.
    const auto after = [](std::string_view text, std::string_view mark) {
      const std::size_t at = text.find(mark);
      return at == std::string_view::npos ? text : text.substr(at + mark.size());
    };
    const std::string_view what = after(error.what(), "] ");
    trouble = fmt::format("not valid JSON: {}", what.starts_with("parse error") ? after(what, ": ") : what);
    trouble_at = position > 0 ? position - 1 : 0;
    return false;
  }

 private:
  [[nodiscard]] std::size_t here() const { return static_cast<std::size_t>(*furthest_ - begin_); }

  template <class Is>
  bool put(Is is) {
    (void)place(Value{std::move(is), 0});
    return true;
  }
  /// The values that are open stay where they are until they close: only the innermost one grows.
  Value* place(Value value) {
    value.at = here();
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    if (auto* array = std::get_if<Array>(&open_.back()->is)) return &array->emplace_back(std::move(value));
    value.at = key_at_;
    auto& members = std::get<Members>(open_.back()->is);
    return &members.emplace_back(Member{std::move(key_), std::move(value)}).value;
  }
  template <class Is>
  bool open(Is is) {
    if (open_.size() == kMostDepth) {
      trouble = fmt::format("more than {} brackets open", kMostDepth);
      trouble_at = here() - 1;
      return false;
    }
    open_.push_back(place(Value{std::move(is), 0}));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const char* begin_;
  const char** furthest_;
  std::vector<Value*> open_;
  std::string key_;
  std::size_t key_at_ = 0;
};

}  // namespace

struct JsonFile::Impl {
  std::string name, text;
  Value root;
  struct Problem {
    std::size_t at;
    Error error;
  };
  std::vector<Problem> problems;

  [[nodiscard]] Error error(std::size_t at, std::string message) const {
    const std::string_view before = std::string_view(text).substr(0, at);
    const std::size_t newline = before.rfind('\n');
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
    return Error{std::move(message), SourceRef{name, line, static_cast<int>(std::min(at, text.size()) - begin) + 1}};
  }
};

struct JsonObject::Node {
  JsonFile::Impl* file;
  const Members* members;
  std::size_t at;
  std::string path;
  std::set<std::string, std::less<>> known;

  /// The value of a key, the last one where it stands twice; null counts as none.
  [[nodiscard]] const Value* find(std::string_view key) const {
    const auto found = std::find_if(members->rbegin(), members->rend(), [&](const Member& member) { return member.key == key; });
    return found == members->rend() || found->value.is.index() == 0 ? nullptr : &found->value;
  }
  const Value* read(std::string_view key) {
    known.emplace(key);
    return find(key);
  }
  void problem(const Value* value, std::string_view key, const std::string& message) {
    const std::string full = path.empty() || key.empty() ? path + std::string(key) : fmt::format("{}.{}", path, key);
    const std::size_t place = value != nullptr ? value->at : at;
    // A member's place is behind its key's closing quote: the key begins before.
    const std::size_t begin = value != nullptr && place >= key.size() + 2 ? place - key.size() - 2 : place;
    file->problems.push_back({begin, file->error(begin, full.empty() ? message : fmt::format("{}: {}", full, message))});
  }
};

Result<JsonFile> JsonFile::parse(std::string_view text, std::string name) {
  auto impl = std::make_unique<Impl>();
  impl->name = std::move(name);
  if (text.size() > kMostBytes)
    return tl::make_unexpected(Errors{Error{fmt::format("larger than {} MiB", kMostBytes >> 20), SourceRef{impl->name, 0, 0}}});
  impl->text = text;
  const char* const begin = impl->text.data();
  const char* furthest = begin;
  Builder builder(begin, &furthest);
  const bool sound = nlohmann::json::sax_parse(Cursor{begin, &furthest}, Cursor{begin + text.size(), &furthest}, &builder);
  if (!sound) return tl::make_unexpected(Errors{impl->error(builder.trouble_at, builder.trouble)});
  if (!std::holds_alternative<Members>(builder.root.is))
    return tl::make_unexpected(Errors{impl->error(0, fmt::format("expected an object, got {}", type_name(builder.root)))});
  impl->root = std::move(builder.root);
  return JsonFile(std::move(impl));
}

JsonFile::JsonFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JsonFile::JsonFile(JsonFile&&) noexcept = default;
JsonFile& JsonFile::operator=(JsonFile&&) noexcept = default;
JsonFile::~JsonFile() = default;

JsonObject JsonFile::root() {
  return JsonObject(
      std::make_shared<JsonObject::Node>(JsonObject::Node{impl_.get(), &std::get<Members>(impl_->root.is), 0, {}, {}}));
}

namespace {

/// Nothing of null, an object, an empty list.
std::optional<std::string> leaf_text(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value.is)) return *truth ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value.is)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value.is)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&value.is)) return *text;
  const auto* array = std::get_if<Array>(&value.is);
  return array != nullptr && !array->empty() ? leaf_text(array->front()) : std::nullopt;
}

template <class Found>
void each_leaf(const Members& members, const std::string& path, const Found& found) {
  for (const Member& member : members) {
    const std::string full = path.empty() ? member.key : fmt::format("{}.{}", path, member.key);
    if (const auto* below = std::get_if<Members>(&member.value.is))
      each_leaf(*below, full, found);
    else if (auto text = leaf_text(member.value))
      found(full, member, std::move(*text));
  }
}

}  // namespace

std::vector<JsonScalar> JsonFile::leaves() const {
  std::vector<JsonScalar> leaves;
  each_leaf(std::get<Members>(impl_->root.is), "", [&](const std::string& path, const Member& member, std::string text) {
    const std::size_t end = member.value.at, key = member.key.size() + 2;  // with its quotes
    leaves.push_back({path, std::move(text), impl_->error(end >= key ? end - key : end, "").where});
  });
  return leaves;
}

const std::string& JsonFile::name() const { return impl_->name; }

Errors JsonFile::errors() const {
  std::vector<Impl::Problem> problems = impl_->problems;
  std::stable_sort(problems.begin(), problems.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  Errors errors;
  for (Impl::Problem& problem : problems) errors.push_back(std::move(problem.error));
  return errors;
}

JsonObject::JsonObject(std::shared_ptr<Node> node) : node_(std::move(node)) {}

bool JsonObject::has(std::string_view key) const { return node_->find(key) != nullptr; }

const std::string& JsonObject::path() const { return node_->path; }

void JsonObject::mark(std::string_view key) { node_->known.emplace(key); }

void JsonObject::problem(std::string_view key, const std::string& message) { node_->problem(node_->find(key), key, message); }

std::vector<std::string> JsonObject::unread() const {
  std::vector<std::string> keys;
  for (const Member& member : *node_->members)
    if (node_->known.count(member.key) == 0) keys.push_back(member.key);
  return keys;
}

std::string JsonObject::text_or(std::string_view key, std::string_view fallback) {
  const Value* const value = node_->read(key);
  if (value == nullptr) return std::string(fallback);
  if (const auto* text = std::get_if<std::string>(&value->is)) return *text;
  node_->problem(value, key, fmt::format("expected text, got {}", type_name(*value)));
  return std::string(fallback);
}

std::int64_t JsonObject::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  if (node_->read(key) != nullptr) return integer_or(key, low, low, high);
  node_->problem(nullptr, key, fmt::format("missing, expected a whole number of {} to {}", low, high));
  return low;
}

std::int64_t JsonObject::integer_or(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high) {
  const Value* const value = node_->read(key);
  if (value == nullptr) return fallback;
  const auto* whole = std::get_if<std::int64_t>(&value->is);
  if (whole != nullptr && *whole >= low && *whole <= high) return *whole;
  const auto* number = std::get_if<double>(&value->is);
  // 8.0 lies within the bounds: it is the point that is one too many.
  const bool pointed = number != nullptr && *number >= static_cast<double>(low) && *number <= static_cast<double>(high) &&
                       std::floor(*number) == *number;
  const std::string got = whole != nullptr    ? std::to_string(*whole)
                          : pointed           ? fmt::format("{:.1f} (a decimal number)", *number)
                          : number != nullptr ? fmt::format("{}", *number)
                                              : std::string(type_name(*value));
  node_->problem(value, key, fmt::format("expected a whole number of {} to {}, got {}", low, high, got));
  return low;
}

double JsonObject::number_or(std::string_view key, double fallback, double low, double high) {
  const Value* const value = node_->read(key);
  if (value == nullptr) return fallback;
  const auto* whole = std::get_if<std::int64_t>(&value->is);
  const auto* number = std::get_if<double>(&value->is);
  const double found = whole != nullptr ? static_cast<double>(*whole) : number != nullptr ? *number : std::nan("");
  if (found >= low && found <= high) return found;
  const std::string got = std::isnan(found) ? std::string(type_name(*value)) : fmt::format("{}", found);
  node_->problem(value, key, fmt::format("expected a number of {} to {}, got {}", low, high, got));
  return low;
}

bool JsonObject::boolean_or(std::string_view key, bool fallback) {
  const Value* const value = node_->read(key);
  if (value == nullptr) return fallback;
  if (const auto* truth = std::get_if<bool>(&value->is)) return *truth;
  node_->problem(value, key, fmt::format("expected true or false, got {}", type_name(*value)));
  return fallback;
}

std::vector<std::string> JsonObject::texts_or_empty(std::string_view key) {
  const Value* const value = node_->read(key);
  if (value == nullptr) return {};
  std::vector<std::string> texts;
  const auto* array = std::get_if<Array>(&value->is);
  bool sound = array != nullptr;
  if (array != nullptr)
    for (const Value& element : *array) {
      const auto* text = std::get_if<std::string>(&element.is);
      sound = sound && text != nullptr;
      if (text != nullptr) texts.push_back(*text);
    }
  if (sound) return texts;
  node_->problem(value, key,
                 fmt::format("expected a list of texts, got {}", array != nullptr ? "other elements" : type_name(*value)));
  return {};
}

std::size_t JsonObject::count(std::string_view key) {
  const Value* const value = node_->read(key);
  if (value == nullptr) return 0;
  if (const auto* array = std::get_if<Array>(&value->is)) return array->size();
  node_->problem(value, key, fmt::format("expected a list, got {}", type_name(*value)));
  return 0;
}

std::optional<JsonObject> JsonObject::object_if(std::string_view key) {
  const Value* const value = node_->read(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* members = std::get_if<Members>(&value->is)) {
    const std::string path = node_->path.empty() ? std::string(key) : fmt::format("{}.{}", node_->path, key);
    return JsonObject(std::make_shared<Node>(Node{node_->file, members, value->at, path, {}}));
  }
  node_->problem(value, key, fmt::format("expected an object, got {}", type_name(*value)));
  return std::nullopt;
}

}  // namespace tbdsim
