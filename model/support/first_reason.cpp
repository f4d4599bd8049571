#include "model/support/first_reason.hpp"

namespace tbdsim {

std::string first_reason(const Errors& errors) {
  if (errors.empty()) return "";
  const Error& first = errors.front();
  // What options say has places of its own, such as --set:1:1, which its message repeats.
  const bool in_file = !first.where.file.starts_with("--");
  return Error{first.message, in_file ? first.where : SourceRef{}}.text();
}

}  // namespace tbdsim
