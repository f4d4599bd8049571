#include "model/report/html.hpp"

namespace tbdsim {
namespace {

/// JSON as it may stand in a script element: nothing in it ends the element. Blanks between values, half of the text
/// of a large network, are left out.
std::string in_script(const std::string& json) {
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

}  // namespace

std::string html_report(const Prediction& prediction, const PredictParts& parts, const std::vector<Prediction>& scaling) {
  PredictParts whole = parts;
  whole.layers = whole.kernels = true;
  std::string points;
  for (const Prediction& p : scaling) points += (points.empty() ? "" : ",\n") + predict_json(p, {});
  const std::string data = "{\"prediction\": " + predict_json(prediction, whole) + ", \"trace\": " + chrome_trace(prediction) +
                           ", \"scaling\": [" + points + "]}";
  std::string page(html_template());
  const std::string mark = "@DATA@";
  return page.replace(page.find(mark), mark.size(), in_script(data));
}

}  // namespace tbdsim
