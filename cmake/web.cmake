# The preset `web`: the predictor as WebAssembly, compiled by Debian's Emscripten, in one page that needs no server.
# Libraries of headers alone are those of the host; nothing else in /usr/include may be seen, so they get a folder of links.
set(web_headers ${PROJECT_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${web_headers})
foreach(header fmt toml++ CLI boost nlohmann tl fast_float eigen3/Eigen sqlite3.h zlib.h zconf.h)
  if(NOT EXISTS /usr/include/${header})
    message(FATAL_ERROR "/usr/include/${header} is missing: install packages.txt and libfast-float-dev")
  endif()
  get_filename_component(link ${header} NAME)
  file(CREATE_LINK /usr/include/${header} ${web_headers}/${link} SYMBOLIC)
endforeach()
foreach(target fmt::fmt tomlplusplus::tomlplusplus Boost::headers nlohmann_json::nlohmann_json CLI11::CLI11 SQLite::SQLite3 ZLIB::ZLIB
        Eigen3::Eigen OpenMP::OpenMP_CXX)
  add_library(${target} INTERFACE IMPORTED)
  target_include_directories(${target} SYSTEM INTERFACE ${web_headers})
endforeach()
# OpenMP's loops run one after the other.
add_compile_definitions(FMT_HEADER_ONLY)
add_compile_options(-fwasm-exceptions -include ${PROJECT_SOURCE_DIR}/model/web/missing_standard.hpp -isystem ${web_headers}
                    -Wno-unknown-pragmas)
add_link_options(-fwasm-exceptions)

# What a page answers: the command line's sources without those that need files, processes or a terminal.
function(tbdsim_web_page)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/model/cli/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/(main|command_sweep|command_validate|leaf_source|command_calibrate)\\.cpp$")
  add_executable(tbdsim_web ${sources} model/web/module.cpp model/web/no_files.cpp)
  target_link_libraries(tbdsim_web PRIVATE tbdsim_flags CLI11::CLI11 fmt::fmt)
  foreach(dependency IN LISTS layer_cli)
    target_link_libraries(tbdsim_web PRIVATE tbdsim_${dependency})
  endforeach()
  target_link_options(tbdsim_web PRIVATE --bind -sSINGLE_FILE=1 -sMODULARIZE=1 -sEXPORT_NAME=startTbdsim -sENVIRONMENT=web,worker,node
                      -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=64MB -sFORCE_FILESYSTEM=1 -sEXPORTED_RUNTIME_METHODS=FS -sTEXTDECODER=1)
  # Its linker runs a script of Node.js that needs Debian's node-acorn, which a Node.js of another origin does not find by itself.
  set_target_properties(tbdsim_web PROPERTIES CXX_LINKER_LAUNCHER "${CMAKE_COMMAND};-E;env;NODE_PATH=/usr/share/nodejs")
  set(page ${PROJECT_BINARY_DIR}/tbdsim.html)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  file(GLOB_RECURSE catalogue CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/hardware/*.toml)
  file(GLOB parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/model/web/page/*)
  add_custom_command(OUTPUT ${page}
                     COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/model/web/bundle.py $<TARGET_FILE:tbdsim_web>
                             ${PROJECT_SOURCE_DIR} ${page}
                     DEPENDS tbdsim_web ${catalogue} ${parts} model/web/bundle.py VERBATIM)
  add_custom_target(tbdsim_page ALL DEPENDS ${page})
endfunction()
