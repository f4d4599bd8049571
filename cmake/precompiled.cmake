# Headers that most sources of a group of rooms read, compiled once for the group. Each `tbdsim_precompiled` names the target and
# the first target of its group, which holds the group's headers; all targets of a group are compiled with the same options.
#
# Only with GCC: clang-tidy, the check of headers alone and the fuzzers see each file as it stands, so a missing include shows.
# Not with ccache: it finds objects of other checkouts, and behind a precompiled header it would find none.
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(TBDSIM_PRECOMPILED_DEFAULT OFF)
else()
  set(TBDSIM_PRECOMPILED_DEFAULT ON)
endif()
option(TBDSIM_PRECOMPILED "Compile common headers once (GCC without ccache)" ${TBDSIM_PRECOMPILED_DEFAULT})

# <filesystem> stays out: it brings std::quoted, which an unqualified quoted(std::string) would then find.
set(tbdsim_library_headers
  <algorithm> <array> <charconv> <cmath> <functional> <map> <memory> <numeric> <optional> <set> <span> <string> <string_view>
  <tuple> <utility> <variant> <vector> <fmt/format.h>)

function(tbdsim_precompiled target first)
  if(NOT TBDSIM_PRECOMPILED)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 warns falsely about a literal put into a vector of structs once <string> is precompiled (its bug 105651).
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${tbdsim_library_headers} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()
