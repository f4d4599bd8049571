#pragma once
#include "model/cli/arguments.hpp"
#include "model/cli/output.hpp"
#include "model/configuration/session.hpp"

namespace tbdsim {

/// The answers that programs may ask for (`question.hpp`), one function per verb.
[[nodiscard]] Result<Answer> answer(const PredictArguments& arguments, Session& session);
[[nodiscard]] Result<Answer> answer(const CompareArguments& arguments, Session& session);
[[nodiscard]] Result<Answer> answer(const ExplainArguments& arguments, Session& session);
[[nodiscard]] Result<Answer> answer(const TopologyArguments& arguments, Session& session);
[[nodiscard]] Result<Answer> answer(const ShowArguments& arguments, Session& session);
[[nodiscard]] Result<Answer> answer(const ScaleArguments& arguments, Session& session);
[[nodiscard]] Result<Answer> answer(const NetworkArguments& arguments, Session& session);
[[nodiscard]] Result<Answer> answer(const MemoryArguments& arguments, Session& session);
[[nodiscard]] Result<Answer> answer(const SweepArguments& arguments, Session& session);
[[nodiscard]] Result<Answer> answer(const ValidateArguments& arguments, Session& session);

/// One function per verb: one analysis, one report. Each returns the program's exit code.
[[nodiscard]] int run(const PredictArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const CompareArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const PlanArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const SweepArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const ExplainArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const NetworkArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const ScaleArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const MemoryArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const ValidateArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const ListArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const ShowArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const TopologyArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const DocsArguments& arguments, const Catalogue& catalogue);

/// Replaces this process by tbdsim-calibrate, which lies beside this program, as git starts its verbs.
/// Expects argv[1] to be "calibrate". Returns only if that fails, having reported why.
[[nodiscard]] int run_calibrate(char** argv);

}  // namespace tbdsim
