#include "model/stack/fp8_recipe.hpp"

#include <array>

#include "model/support/enum_table.hpp"

namespace tbdsim {
namespace {

// Bytes: 2 read for a maximum, 2 read and 1 written by a cast.
constexpr double kMaximum = 2.0, kCast = 3.0;
// abs 2 + 2, max 2, widening 2 + 4, product and clamp 4 + 4 each, cast 4 + 1; four more kernels make the scale.
constexpr CastKernels kEager{33.0, 10};
constexpr CastKernels kTwoPasses{kMaximum + kCast, 3};
// Scales: 4 B for 128 numbers, 1 B for 32.
constexpr CastKernels kBlocks{kCast + 4.0 / 128.0, 1}, kMx{kCast + 1.0 / 32.0, 1};

constexpr std::array<Fp8RecipeInfo, 5> kRecipes{{
    {Fp8Recipe::tensorwise, "tensorwise", "", kTwoPasses, kEager, {}, Turned::copied, false, false},
    {Fp8Recipe::rowwise, "rowwise", "cutlass", {kCast, 1}, kEager, kTwoPasses, Turned::cast, false, false},
    {Fp8Recipe::blockwise, "blockwise", "deepgemm", kBlocks, kBlocks, kBlocks, Turned::cast, false, false},
    {Fp8Recipe::mxfp8, "mxfp8", "", kMx, kMx, kMx, Turned::cast, false, true},
    {Fp8Recipe::delayed, "delayed", "", {kCast, 1}, {kCast, 1}, {}, Turned::together, true, false},
}};
static_assert(rows_in_order(kRecipes));

}  // namespace

std::span<const Fp8RecipeInfo> fp8_recipes() { return kRecipes; }

const Fp8RecipeInfo& info(Fp8Recipe recipe) { return kRecipes[static_cast<std::size_t>(recipe)]; }

}  // namespace tbdsim
