#pragma once
// The only place that names the Catch2 major version.
#include <catch2/catch.hpp>

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
