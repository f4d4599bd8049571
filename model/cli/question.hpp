#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/cli/arguments.hpp"
#include "model/cli/output.hpp"
#include "model/configuration/session.hpp"

// How a program asks what the command line asks: claims, the Python module and the web page take this way.
namespace tbdsim {

/// A verb with its options by name, with `-` or `_` between words and without leading dashes. A flag has the value `true` or
/// `false`. An option that may be repeated stands several times. The answer is JSON, so `format` is no option.
struct Question {
  std::string verb;
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::string> words = {};  ///< what stands without an option: files of `validate`, the name of `show`
  [[nodiscard]] bool operator<(const Question& other) const {
    return std::tie(verb, options, words) < std::tie(other.verb, other.options, other.words);
  }
};

/// Errors: a verb without an answer in JSON, every unknown option, a value that the command line refuses, in its words.
[[nodiscard]] Result<Arguments> read_question(const Question& question);

/// What the verb prints with `--format json`, and its remarks. A sweep without `output` keeps its rows nowhere else.
/// Errors: as the verb; a verb without an answer in JSON.
[[nodiscard]] Result<Answer> answer_json(const Arguments& arguments, Session& session);

/// Answers the questions of one process. The catalogue is read once; a question that names a file of the user's own reads it
/// anew, since it may have changed. Safe to use from several threads at once.
class Answerer {
 public:
  explicit Answerer(Catalogue catalogue);
  [[nodiscard]] Result<Answer> ask(const Question& question);

 private:
  Catalogue catalogue_;
  std::mutex mutex_;
  std::shared_ptr<Session> session_;
  int edited_ = 0;  ///< questions with changed values that `session_` may keep

  [[nodiscard]] std::shared_ptr<Session> session_for(const Question& question);
};

}  // namespace tbdsim
