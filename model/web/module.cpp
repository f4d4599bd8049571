// The part of the page that is compiled: questions in, JSON out. What visitors see is in page/.
#include <emscripten/bind.h>

#include <exception>

#include "model/cli/catalogue_shelves.hpp"
#include "model/cli/question.hpp"
#include "model/configuration/option_table.hpp"

namespace tbdsim {
namespace {

using emscripten::val;

val as_array(const std::vector<std::string>& texts) {
  val all = val::array();
  for (const std::string& text : texts) all.call<void>("push", text);
  return all;
}

val as_array(const Errors& errors) {
  std::vector<std::string> texts;
  for (const Error& error : errors) texts.push_back(error.text());
  return as_array(texts);
}

/// Answers from the catalogue in a folder of the page's own file system.
class Page {
 public:
  explicit Page(const std::string& folder) : catalogue_{folder}, answerer_(catalogue_) {}

  /// {text, notices, errors} of a verb and its [name, value] pairs. `text` is JSON, or empty where there are errors.
  [[nodiscard]] val ask(const std::string& verb, const val& options) {
    Question question{verb, {}};
    for (const val& option : emscripten::vecFromJSArray<val>(options))
      question.options.emplace_back(option[0].as<std::string>(), option[1].as<std::string>());
    const auto answered = [&]() -> Result<Answer> {
      try {
        return answerer_.ask(question);
      } catch (const std::exception& exception) { return fail(exception.what()); }
    }();
    val reply = val::object();
    reply.set("text", answered ? answered->text : std::string());
    reply.set("notices", answered ? as_array(answered->notices) : val::array());
    reply.set("errors", answered ? val::array() : as_array(answered.error()));
    return reply;
  }

  /// Names of a kind of the catalogue, such as "systems"; none of an unknown kind.
  [[nodiscard]] val names(const std::string& kind) const {
    for (const CatalogueKind& known : catalogue_kinds())
      if (known.name == kind) return as_array(known.ids(catalogue_));
    return val::array();
  }

  /// {name, value, help, flag, words} of each option of a verb.
  [[nodiscard]] val options(const std::string& verb) const {
    val all = val::array();
    for (const VerbRow& known : verb_table()) {
      if (known.name != verb) continue;
      for (const OptionRow* const row : options_of(known.verb)) {
        if (row->word) continue;
        val one = val::object();
        one.set("name", std::string(row->name));
        one.set("value", shown_value(*row, known.verb));
        one.set("help", shown_help(*row));
        one.set("flag", row->flag());
        one.set("words", std::string(row->words));
        all.call<void>("push", one);
      }
    }
    return all;
  }

 private:
  Catalogue catalogue_;
  Answerer answerer_;
};

}  // namespace
}  // namespace tbdsim

EMSCRIPTEN_BINDINGS(tbdsim) {
  emscripten::class_<tbdsim::Page>("Page")
      .constructor<std::string>()
      .function("ask", &tbdsim::Page::ask)
      .function("names", &tbdsim::Page::names)
      .function("options", &tbdsim::Page::options);
}
