// The table of kernel families: each has a name and a row of its own.
#include "model/hardware/kernel_family.hpp"

#include <set>

#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("every kernel family has a name and a row of its own, softmax, layer norm and RMS norm reduce rows") {
  std::set<std::string_view> names;
  for (const KernelFamilyInfo& row : kernel_families()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(&info(row.kind) == &row);
    CHECK(name(row.kind) == row.name);
    CHECK(row.reduces_rows ==
          (row.kind == KernelFamily::softmax || row.kind == KernelFamily::layer_norm || row.kind == KernelFamily::rms_norm));
  }
}
