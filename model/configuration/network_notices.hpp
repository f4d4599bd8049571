#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/configuration/configuration.hpp"
#include "model/input/edits.hpp"

namespace tbdsim {

/// That `what` ("network NAME") changes nothing, since one node runs the job alone; whether a notice says so.
[[nodiscard]] std::string one_node_notice(const std::string& what);
[[nodiscard]] bool is_one_node_notice(const std::string& notice);

/// That a ZeRO stage changes nothing, since there is one copy of the network; whether a notice says so.
[[nodiscard]] std::string one_copy_notice(int zero);
[[nodiscard]] bool is_one_copy_notice(const std::string& notice);

/// That a changed value stood as it was set.
[[nodiscard]] std::string stood_notice(const std::string& assignment, const std::string& value);

/// Whether a notice says that an option or a changed value of the job is not used; a value that stood as it was set is.
[[nodiscard]] bool is_no_effect_notice(const std::string& notice);

/// Why something is without effect, "since ...", by a notice that says so; empty: it says nothing of the kind.
[[nodiscard]] std::string no_effect_reason(const std::string& notice);

/// What a notice says of an option or a changed value that does nothing, in parts: "network", "ethernet-10g" and ": without
/// effect, since ...".
struct IdleOption {
  std::string name, value, reason;
};
/// The parts of a notice that says so, also of a value that stood as it was set; nothing of any other notice.
[[nodiscard]] std::optional<IdleOption> idle_option(const std::string& notice);

/// Of a seed that was given where no decode times are drawn; empty: it has an effect, or is the default.
[[nodiscard]] std::string seed_notice(const PredictOptions& options, const Configuration& configuration);

/// What to say of a network that was named; nothing where it serves as the machine's own would.
[[nodiscard]] std::string network_notice(const PredictOptions& options, const Configuration& configuration);

/// Adds notices of changed values of a network that joins no nodes.
void tell_unused_network(const Edits& edits, Configuration& configuration);
/// What to know of a change of how gradients overlap backward: a step by layers does not know it, and a stack that copies
/// gradients into buckets saves the host their copies without.
void tell_overlap(const Edits& edits, Configuration& configuration);

/// Adds a notice of changed RDMA that the parameter servers of the job do not use.
void tell_unused_rdma(const Edits& edits, Configuration& configuration);

/// That changed latencies of links, which are of copies, leave collectives as they are: one notice for each assignment.
[[nodiscard]] std::vector<std::string> unused_latency_notices(const Edits& edits);
/// Adds them where collectives are all that the GPUs of the job exchange.
void tell_unused_latency(const Edits& edits, Configuration& configuration);

/// Adds a notice of a factor (KEY?=2x) on the rate of the host's memory that no file states, where an offload goes by it.
void tell_unstated_host_memory(Configuration& configuration);

}  // namespace tbdsim
