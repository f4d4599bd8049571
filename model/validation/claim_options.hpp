#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tbdsim {

/// The one spelling of an option in claims and grids: `seq_len` is `seq-len`.
[[nodiscard]] std::string claim_option_name(std::string_view option);

/// Why `option` with this value may not stand in a claim or a grid; empty: it may. Only options that change what is predicted, or
/// ask for more of it, may: a scenario is a file of somebody else's, and assessing it writes nothing. For the same reason no
/// value is an option in disguise.
[[nodiscard]] std::string claim_option_problem(std::string_view option, std::string_view value);

/// Whether `option` is a flag that adds a part to a prediction's answer, such as `kernels`, and changes nothing else of it.
[[nodiscard]] bool adds_part(std::string_view option);

/// Why such a flag may not stand in a grid whose claims call these leaves: none of them names its part. Empty: it may, or it is
/// no such flag. A part that goes by other names (`indirect_copies` of `links`) is asked for in the claim itself.
[[nodiscard]] std::string unread_part_problem(std::string_view option, const std::vector<std::string>& leaves);

/// Whether the value of `option` may be a file, which is then one beside the file that names it.
[[nodiscard]] bool may_name_file(std::string_view option);

}  // namespace tbdsim
