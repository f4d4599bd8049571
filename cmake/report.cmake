# The pages of `--report` are written in files of their own, model/report/web. They become a source here, so that the program
# needs no file beside it. A literal holds at most 16 kB of a file: compilers need not accept longer ones.
function(tbdsim_report_pages)
  set(folder ${PROJECT_SOURCE_DIR}/model/report/web)
  file(GLOB parts CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*.html ${folder}/*.css ${folder}/*.js ${folder}/plot/plot.min.js
       ${folder}/plot/LICENSE)
  set(rows "")
  set(step 16000)
  foreach(part IN LISTS parts)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${part})
    file(READ ${folder}/${part} text)
    string(LENGTH "${text}" length)
    set(at 0)
    while(at LESS length)
      string(SUBSTRING "${text}" ${at} ${step} piece)
      string(APPEND rows "    {\"${part}\", R\"~web~(${piece})~web~\"},\n")
      math(EXPR at "${at} + ${step}")
    endwhile()
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/web_parts.cpp @ONLY CONTENT [[
// Made by cmake/report.cmake of model/report/web; change those files.
#include "model/report/web_parts.hpp"

namespace tbdsim {
namespace {

struct Piece {
  const char *file, *text;
};

constexpr Piece kPieces[] = {
@rows@};

}  // namespace

std::string web_part(std::string_view file) {
  std::string whole;
  for (const Piece& piece : kPieces)
    if (file == piece.file) whole += piece.text;
  return whole;
}

}  // namespace tbdsim
]])
  target_sources(tbdsim_report PRIVATE ${PROJECT_BINARY_DIR}/web_parts.cpp)
endfunction()
