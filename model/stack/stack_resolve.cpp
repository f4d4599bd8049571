#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <functional>
#include <tuple>

#include "model/stack/stack.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/find_named.hpp"
#include "model/support/name_words.hpp"

namespace tbdsim {
namespace {

/// framework[-ngc][-variant]-version[-variant], split.
struct StackName {
  std::string framework;
  bool ngc = false;
  std::vector<int> version;
  std::string variant;
};

std::vector<int> version_numbers(std::string_view text) {
  std::vector<int> result;
  int value = 0;
  bool any = false;
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      value = std::min(value * 10 + (c - '0'), 1'000'000);
      any = true;
    } else {
      if (any) result.push_back(value);
      value = 0;
      any = false;
    }
  }
  if (any) result.push_back(value);
  return result;
}

/// "1.15", or Torch7's, which never had versions and goes by its cuDNN: "cudnn5.1".
bool is_version(const std::string& part) {
  const std::size_t first = part.rfind("cudnn", 0) == 0 ? 5 : 0;
  return first < part.size() && std::isdigit(static_cast<unsigned char>(part[first])) != 0;
}

StackName split(const std::string& text) {
  StackName name;
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == '-')
      parts.emplace_back();
    else
      parts.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  name.framework = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string& part = parts[i];
    if (part == "ngc")
      name.ngc = true;
    else if (is_version(part) && name.version.empty())
      name.version = version_numbers(part);
    else
      name.variant += (name.variant.empty() ? "" : "-") + part;
  }
  return name;
}

/// A version as one number, so that 1.13 lies between 1.0 and 2.0. NGC tags are a year and a month; other frameworks
/// had up to about 30 minor releases to a major one. Years of code without versions lie before all versions.
double position(const StackName& name) {
  constexpr int kFirstYear = 1990, kLastYear = 2100;
  if (!name.version.empty() && name.version.front() >= kFirstYear) return name.version.front() - kLastYear;
  const double step = name.ngc ? 12.0 : 30.0;
  double result = 0.0, weight = 1.0;
  for (const int number : name.version) {
    result += weight * number;
    weight /= step;
  }
  return result;
}

/// How well a candidate's variant serves: as wanted, plain, or one nobody asked for.
enum class VariantFit { same, plain, other };
VariantFit variant_fit(const StackName& candidate, const StackName& wanted) {
  if (candidate.variant == wanted.variant) return VariantFit::same;
  return candidate.variant.empty() ? VariantFit::plain : VariantFit::other;
}

std::vector<std::string> stack_ids(const std::string& root) {
  std::vector<std::string> ids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/hardware/stacks", error)) {
    if (entry.path().extension() == ".toml") ids.push_back(entry.path().stem().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

// A step predicted for another version of the framework is off by about 10 % more: the spread between versions of
// one framework on one board in the published single-GPU tables.
constexpr double kOtherVersionSpread = 0.10;

/// What was fitted on one container's runs is not known of its neighbours.
void forget_own_runs(Stack& stack) {
  StoreSettings& store = stack.store;
  store.unlinked = UnlinkedRoute::host;
  store.nccl_slowdown = 1.0;
  store.nccl_decode_share = 1.0;
  stack.input.name = InputSettings{}.name;
  if (stack.input.decode > Seconds(0.0)) stack.input.threads = 0;
  stack.input.decode = Seconds(0.0);
}

Result<Stack> nearest_version(const std::string& root, const std::string& text, const std::vector<std::string>& ids) {
  const StackName wanted = split(text);
  const std::string* best = nullptr;
  // A variant nobody asked for comes last; then the nearest version, of a framework without one the newest; then the
  // variant as wanted.
  std::tuple<bool, double, VariantFit, std::string> best_key;
  std::vector<std::string> of_framework;
  for (const std::string& id : ids) {
    const StackName candidate = split(id);
    if (candidate.framework != wanted.framework) continue;
    of_framework.push_back(id);
    if (candidate.ngc != wanted.ngc) continue;
    const VariantFit fit = variant_fit(candidate, wanted);
    const double away = wanted.version.empty() ? -position(candidate) : std::abs(position(candidate) - position(wanted));
    const std::tuple key{fit == VariantFit::other, away, fit, id};
    if (best == nullptr || key < best_key) {
      best = &id;
      best_key = key;
    }
  }
  if (of_framework.empty()) {
    std::vector<std::string> frameworks;
    for (const std::string& id : ids) {
      if (frameworks.empty() || frameworks.back() != split(id).framework) frameworks.push_back(split(id).framework);
    }
    if (const auto near = nearest(text, ids); near && missing_words(text, {*near}).empty())
      return fail(fmt::format("unknown stack \"{}\", did you mean \"{}\"?", text, *near));
    return fail(fmt::format("unknown stack \"{}\"{}", text,
                            name_hint(wanted.framework, frameworks,
                                      fmt::format("`tbdsim list stacks`; frameworks are {}", fmt::join(frameworks, ", ")),
                                      "a file of your own (`tbdsim docs formats`)")));
  }
  if (best == nullptr) return fail(fmt::format("unknown stack \"{}\"; there are {}", text, fmt::join(of_framework, ", ")));
  if (wanted.version.empty() && wanted.variant.empty() && text != wanted.framework)
    return fail(fmt::format("stack \"{}\" names no version, expected such as \"{}\"", text, *best));
  auto stack = read_stack(fmt::format("{}/hardware/stacks/{}.toml", root, *best), root);
  if (!stack) return stack;
  forget_own_runs(*stack);
  stack->notices.push_back(fmt::format("no stack {} in the catalogue, using {}", text, *best));
  if (!wanted.version.empty()) stack->extra_spread = kOtherVersionSpread;
  return stack;
}

}  // namespace

Result<Stack> load_stack(const std::string& catalogue_root, const std::string& name) {
  std::error_code error;
  const bool is_path = name.size() > 5 && name.substr(name.size() - 5) == ".toml";
  if (is_path) {
    if (std::filesystem::exists(name, error)) return read_stack(name, catalogue_root);
    const std::string stem = std::filesystem::path(name).stem().string();
    const std::string path = fmt::format("{}/hardware/stacks/{}.toml", catalogue_root, stem);
    if (std::filesystem::exists(path, error)) return read_stack(path, catalogue_root);
    return fail(fmt::format("no stack file \"{}\"", name));
  }
  const std::vector<std::string> ids = stack_ids(catalogue_root);
  if (ids.empty()) return fail(fmt::format("no stacks under {}/hardware/stacks", catalogue_root));
  // mxnet-18.04 is the founding study's own name for the container of that month.
  const std::string wanted = fold_name(name) == fold_name("mxnet-18.04") ? "mxnet-ngc-18.04" : name;
  for (const std::string& id : ids) {
    if (id == wanted) return read_stack(fmt::format("{}/hardware/stacks/{}.toml", catalogue_root, id), catalogue_root);
  }
  for (const std::string& id : ids) {
    if (fold_name(id) == fold_name(wanted))
      return read_stack(fmt::format("{}/hardware/stacks/{}.toml", catalogue_root, id), catalogue_root);
  }
  return nearest_version(catalogue_root, wanted, ids);
}

namespace {

/// Stacks of the framework and line of `own` for which `wanted` holds, newest first.
std::vector<std::string> releases(const std::string& root, const StackName& own,
                                  const std::function<bool(const std::string&, const StackName&)>& wanted) {
  std::vector<std::pair<double, std::string>> found;
  for (const std::string& id : stack_ids(root)) {
    const StackName name = split(id);
    const bool line = name.framework == own.framework && name.ngc == own.ngc && !name.version.empty();
    if (line && wanted(id, name)) found.emplace_back(-position(name), id);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> ids;
  ids.reserve(found.size());
  for (auto& [age, id] : found) ids.push_back(std::move(id));
  return ids;
}

}  // namespace

std::vector<std::string> later_stacks(const std::string& catalogue_root, const std::string& id) {
  const StackName own = split(id);
  return releases(catalogue_root, own, [&](const std::string& other, const StackName& name) {
    return other != id && position(name) >= position(own);
  });
}

std::vector<std::string> earlier_stacks(const std::string& catalogue_root, const std::string& id) {
  const StackName own = split(id);
  return releases(catalogue_root, own, [&](const std::string&, const StackName& name) {
    return name.variant == own.variant && position(name) < position(own);
  });
}

}  // namespace tbdsim
