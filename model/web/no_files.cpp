// The verbs that live from files, of which the page has none.
#include "model/cli/command.hpp"
#include "model/study/replay.hpp"

namespace tbdsim {

Result<Answer> answer(const SweepArguments&, Session&) {
  return fail("sweep: keeps its rows in a file; ask the command line or the Python module");
}

Result<Answer> answer(const ValidateArguments&, Session&) {
  return fail("validate: reads measurements from files; ask the command line or the Python module");
}

Result<StepReplay> replay(Session&, const PredictOptions&, const std::string&) {
  return fail("--from-trace: reads a file; ask the command line or the Python module");
}

}  // namespace tbdsim
