#include "model/report/report_page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/report/web_parts.hpp"

namespace tbdsim {
namespace {

/// JSON as it may stand in a script element: nothing in it ends the element. Blanks between values, half of the text
/// of a large network, are left out.
std::string in_script(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  bool in_string = false, escaped = false;
  for (const char c : json) {
    if (c == '"' && !escaped) in_string = !in_string;
    escaped = c == '\\' && !escaped;
    if (c == '<')
      safe += "\\u003c";
    else if (in_string || (c != ' ' && c != '\n'))
      safe += c;
  }
  return safe;
}

/// Names come from command lines and files of users; bytes that are no UTF-8 must not end the program.
std::string json_text(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void put(std::string& page, std::string_view mark, std::string_view text) { page.replace(page.find(mark), mark.size(), text); }

}  // namespace

std::string report_page(const PageOrigin& origin, std::string_view data) {
  std::string script;
  for (const char* shared : {"elements.js", "colours.js", "tables.js", "figures.js", "charts.js", "timeline.js"})
    script += web_part(shared);
  script += web_part(std::string(origin.verb) + ".js");
  std::string page = web_part("page.html");
  put(page, "@STYLE@", web_part("page.css"));
  put(page, "@LICENCES@", web_part("plot/LICENSE"));  // every copy of the library has to hold its notice
  put(page, "@PLOT@", web_part("plot/plot.min.js"));
  put(page, "@SCRIPT@", script);
  const std::string json =
      fmt::format(R"({{"verb":{},"command":{},"notices":{},"data":{}}})", json_text(std::string(origin.verb)),
                  json_text(origin.command), json_text(origin.notices), data);
  put(page, "@DATA@", in_script(json));
  return page;
}

}  // namespace tbdsim
