#include "model/hardware/kernel_family.hpp"

#include <array>

#include "model/support/enum_table.hpp"

namespace tbdsim {
namespace {

// name, reduces rows
constexpr std::array<KernelFamilyInfo, 12> kRows{{
    {KernelFamily::convolution, "convolution", false},
    {KernelFamily::gemm, "gemm", false},
    {KernelFamily::recurrent, "recurrent", false},
    {KernelFamily::attention, "attention", false},
    {KernelFamily::softmax, "softmax", true},
    {KernelFamily::layer_norm, "layer_norm", true},
    {KernelFamily::memory_bound, "memory_bound", false},
    {KernelFamily::single_access, "single_access", false},
    {KernelFamily::rms_norm, "rms_norm", true},
    {KernelFamily::rope, "rope", false},
    {KernelFamily::gated_activation, "gated_activation", false},
    {KernelFamily::experts, "experts", false},
}};
static_assert(rows_in_order(kRows));

}  // namespace

std::span<const KernelFamilyInfo> kernel_families() { return kRows; }

const KernelFamilyInfo& info(KernelFamily family) { return kRows[static_cast<std::size_t>(family)]; }

}  // namespace tbdsim
