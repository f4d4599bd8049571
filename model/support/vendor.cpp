#include "model/support/vendor.hpp"

#include <array>

#include "model/support/enum_table.hpp"

namespace tbdsim {
namespace {

constexpr std::array<VendorInfo, 2> kRows{{
    {Vendor::nvidia, "NVIDIA", "", "", 1.0, true},
    {Vendor::amd, "AMD", "-rocm", "rocm1", 2.0, false},  // two operations: CDNA 3 and later
}};
static_assert(rows_in_order(kRows));

}  // namespace

std::span<const VendorInfo> vendors() { return kRows; }

const VendorInfo& info(Vendor vendor) { return kRows[static_cast<std::size_t>(vendor)]; }

}  // namespace tbdsim
