#pragma once
#include <span>
#include <string_view>

#include "model/input/json_reader.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {

/// One row of the table of families: networks whose configurations have the same fields.
struct LanguageFamily {
  std::string_view model_type;                     ///< as in config.json
  void (*read)(JsonObject&, TransformerNetwork&);  ///< notes problems in the object; fields that it asks for count as read
};

/// Every family, by name.
[[nodiscard]] std::span<const LanguageFamily> language_families();

}  // namespace tbdsim
