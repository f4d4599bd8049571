#include "model/study/grid_names.hpp"

#include <array>
#include <filesystem>
#include <string_view>

#include "model/configuration/anchor_file.hpp"
#include "model/configuration/framework_arguments/layout_file.hpp"
#include "model/configuration/read_configuration.hpp"
#include "model/configuration/read_option.hpp"
#include "model/configuration/session.hpp"

namespace tbdsim {
namespace {

constexpr std::array kChoices{std::pair{std::string_view("precision"), &PredictOptions::precision},
                              std::pair{std::string_view("optimizer"), &PredictOptions::optimizer},
                              std::pair{std::string_view("exchange"), &PredictOptions::exchange}};

template <class Value>
void append(const Result<Value>& result, Errors& errors) {
  if (!result) errors.insert(errors.end(), result.error().begin(), result.error().end());
}

/// Sizes at which points of a grid read a network's file: combinations of its axes, the first of very many.
std::vector<ZooOptions> sizes_of(const StudyGrid& grid) {
  constexpr std::size_t kTried = 512;  // as many as `begin_rows` tries
  std::vector<ZooOptions> sizes{ZooOptions{}};
  const auto along = [&](std::string_view option, std::optional<int> ZooOptions::*size) {
    for (const GridAxis& axis : grid.axes) {
      if (axis.option != option) continue;
      std::vector<ZooOptions> all;
      for (const ZooOptions& other : sizes)
        for (const std::string& value : axis.values) {
          if (all.size() == kTried) break;
          all.push_back(other);
          all.back().*size = whole_number(value, 1);
        }
      sizes = std::move(all);
    }
  };
  along("image", &ZooOptions::image);
  along("seq-len", &ZooOptions::seq_len);
  return sizes;
}

/// Problems of a network's file that is there, where it can be read at no size of the grid; those of the first.
Errors unreadable(Session& session, const std::string& file, const std::vector<ZooOptions>& sizes) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};  // each point tells
  Errors first;
  for (const ZooOptions& size : sizes) {
    const auto read = session.workload(file, "", size);
    if (*read) return {};
    if (first.empty()) first = read->error();
  }
  return first;
}

bool is_file(const std::string& model) {
  return model.find('/') != std::string::npos || model.find(".toml") != std::string::npos || is_imported_file(model);
}

}  // namespace

Errors unknown_names(Session& session, const StudyGrid& grid) {
  Errors errors;
  const std::vector<ZooOptions> sizes = sizes_of(grid);
  for (const GridAxis& axis : grid.axes) {
    for (const std::string& name : axis.values) {
      if (axis.option == "hw")
        append(*session.system(name, 1), errors);
      else if (axis.option == "stack")
        append(*session.stack(name), errors);
      else if (axis.option == "network")
        append(*session.network(name), errors);
      else if (axis.option == "layout-from")
        append(*session.layout_file(name), errors);
      else if (axis.option == "calibration")
        append(anchor_assignments(name), errors);
      else if (axis.option == "model" && !is_file(name))
        append(find_network(name, ""), errors);
      else if (axis.option == "model")
        for (Error& error : unreadable(session, name, sizes)) errors.push_back(std::move(error));
      for (const auto& [option, landing] : kChoices) {
        if (axis.option != option) continue;
        PredictOptions chosen;
        chosen.*landing = name;
        const Errors unknown = unknown_choices(chosen);
        errors.insert(errors.end(), unknown.begin(), unknown.end());
      }
    }
  }
  return errors;
}

}  // namespace tbdsim
