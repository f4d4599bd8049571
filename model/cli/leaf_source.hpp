#pragma once
#include "model/prediction/predict.hpp"
#include "model/validation/claim_evaluate.hpp"

namespace tbdsim {

/// Answers the functions of claims: runs verbs with the options given and looks the leaf up in their JSON. Verbs are
/// tried in the order of their table; `predict.throughput` asks one verb only. Equal questions are answered once.
/// Errors: no verb that takes these options has such a leaf (with the nearest that one has); what the verb reports; an option
/// that the function itself states and that is without effect there, as the verb's note says. The session outlives what is
/// returned.
[[nodiscard]] LeafSource verb_leaves(Session& session);

}  // namespace tbdsim
