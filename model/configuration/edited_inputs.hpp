#pragma once
#include <memory>
#include <string>
#include <vector>

#include "model/configuration/option_changes.hpp"

namespace tbdsim {

class Session;

/// Inputs of a configuration with `--set` applied: a session whose documents are changed, and changes of the options of the job.
struct EditedInputs {
  std::shared_ptr<Session> session;
  std::vector<OptionChange> options;
  std::vector<std::string> notices;  ///< empty where a change of an option tells it
  Errors errors;                     ///< of assignments that mean nothing
};

}  // namespace tbdsim
