#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tbdsim {

class Session;

/// Inputs of a configuration with `--set` applied: a session whose documents are changed, and options of the job.
struct EditedInputs {
  std::shared_ptr<Session> session;
  std::vector<std::pair<std::string, std::string>> parallel;
  std::vector<std::string> notices;
};

}  // namespace tbdsim
