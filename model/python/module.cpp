// The part of the Python module that is compiled: questions in, JSON out. What Python users see is in tbdsim/.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "model/cli/catalogue_location.hpp"
#include "model/cli/question.hpp"
#include "model/configuration/option_table.hpp"
#include "model/configuration/threads.hpp"
#include "model/support/version.hpp"

namespace tbdsim {
namespace {

namespace py = pybind11;

py::list as_list(const Errors& errors) {
  py::list all;
  for (const Error& error : errors) {
    py::dict one;
    one["text"] = error.text();
    one["message"] = error.message;
    one["file"] = error.where.file;
    one["line"] = error.where.line;
    one["column"] = error.where.column;
    all.append(std::move(one));
  }
  return all;
}

/// (JSON, remarks, None), or (None, None, problems).
py::tuple ask(Answerer& answerer, Question question) {
  auto answered = [&] {
    const py::gil_scoped_release others_may_run;
    return answerer.ask(question);
  }();
  if (!answered) return py::make_tuple(py::none(), py::none(), as_list(answered.error()));
  return py::make_tuple(std::move(answered->text), std::move(answered->notices), py::none());
}

/// Reads the catalogue of a folder, or where none is named, of the place where the program would find it.
std::unique_ptr<Answerer> open(const std::string& folder) {
  const auto catalogue = folder.empty() ? find_catalogue() : Result<Catalogue>(Catalogue{folder});
  if (!catalogue) throw py::value_error(to_text(catalogue.error()));
  bound_threads();
  return std::make_unique<Answerer>(*catalogue);
}

py::list verbs() {
  py::list all;
  for (const VerbRow& row : verb_table()) all.append(py::make_tuple(std::string(row.name), std::string(row.text)));
  return all;
}

/// The options of a verb as the command line has them. Errors: ValueError, an unknown verb.
py::list options(const std::string& verb) {
  py::list all;
  for (const VerbRow& known : verb_table()) {
    if (known.name != verb) continue;
    for (const OptionRow* const row : options_of(known.verb)) {
      py::dict one;
      one["name"] = std::string(row->name);
      one["value"] = shown_value(*row, known.verb);
      one["help"] = shown_help(*row);
      one["word"] = row->word;
      one["flag"] = row->flag();
      one["list"] = row->lists.has(known.verb) || std::holds_alternative<std::vector<int> PredictOptions::*>(row->landing);
      one["words"] = std::string(row->words);
      all.append(std::move(one));
    }
    return all;
  }
  throw py::value_error("unknown verb");
}

}  // namespace
}  // namespace tbdsim

PYBIND11_MODULE(_tbdsim, module) {
  using tbdsim::Question;
  module.doc() = "Questions in, JSON out; the package around it says what they are.";
  module.attr("version") = std::string(tbdsim::version());
  module.def("verbs", &tbdsim::verbs);
  module.def("options", &tbdsim::options);
  pybind11::class_<tbdsim::Answerer>(module, "Answerer")
      .def(pybind11::init(&tbdsim::open), pybind11::arg("folder"))
      .def("ask", [](tbdsim::Answerer& answerer, std::string verb, std::vector<std::pair<std::string, std::string>> options,
                     std::vector<std::string> words) {
        return tbdsim::ask(answerer, Question{std::move(verb), std::move(options), std::move(words)});
      });
}
