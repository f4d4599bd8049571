#include "model/stack/parallel/pipeline_settings.hpp"

#include <fmt/format.h>

namespace tbdsim {

bool PipelineSettings::has(std::string_view schedule) const {
  return schedules.empty() || fmt::format(" {} ", schedules).find(fmt::format(" {} ", schedule)) != std::string::npos;
}

PipelineSettings read_pipeline_settings(TomlTable& table) {
  PipelineSettings s;
  s.blocking_hops = table.boolean_or("blocking_hops", s.blocking_hops);
  s.scatters_hops = table.boolean_or("scatters_hops", s.scatters_hops);
  s.schedules = table.text_or("schedules", s.schedules);
  return s;
}

}  // namespace tbdsim
