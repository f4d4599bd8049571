#pragma once
#include "model/cli/arguments.hpp"
#include "model/cli/verb_options.hpp"

namespace tbdsim {

/// The options of each verb, bound to where they go.
void describe(VerbOptions verb, PredictArguments& arguments);
void describe(VerbOptions verb, CompareArguments& arguments);
void describe(VerbOptions verb, PlanArguments& arguments);
void describe(VerbOptions verb, SweepArguments& arguments);
void describe(VerbOptions verb, ExplainArguments& arguments);
void describe(VerbOptions verb, NetworkArguments& arguments);
void describe(VerbOptions verb, ScaleArguments& arguments);
void describe(VerbOptions verb, MemoryArguments& arguments);
void describe(VerbOptions verb, ValidateArguments& arguments);
void describe(VerbOptions verb, ListArguments& arguments);
void describe(VerbOptions verb, ShowArguments& arguments);
void describe(VerbOptions verb, TopologyArguments& arguments);
void describe(VerbOptions verb, DocsArguments& arguments);

}  // namespace tbdsim
