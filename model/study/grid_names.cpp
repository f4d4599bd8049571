#include "model/study/grid_names.hpp"

#include <array>
#include <string_view>

#include "model/configuration/read_configuration.hpp"
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

bool is_file(const std::string& model) {
  return model.find('/') != std::string::npos || model.find(".toml") != std::string::npos || is_imported_file(model);
}

}  // namespace

Errors unknown_names(Session& session, const StudyGrid& grid) {
  Errors errors;
  for (const GridAxis& axis : grid.axes) {
    for (const std::string& name : axis.values) {
      if (axis.option == "hw")
        append(*session.system(name, 1), errors);
      else if (axis.option == "stack")
        append(*session.stack(name), errors);
      else if (axis.option == "network")
        append(*session.network(name), errors);
      else if (axis.option == "model" && !is_file(name))  // what a file lacks depends on the point's sizes
        append(find_network(name, ""), errors);
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
