# The Python module: model/python/tbdsim with its compiled part and type stubs, in PROJECT_BINARY_DIR/python.
# All code of the module is position-independent, so TBDSIM_PYTHON compiles everything so.
if(NOT TBDSIM_PYTHON)
  return()
endif()
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
set(PYBIND11_FINDPYTHON ON)
set(Python_EXECUTABLE ${Python3_EXECUTABLE})
find_package(pybind11 2.10 REQUIRED)

set(python_package ${PROJECT_BINARY_DIR}/python/tbdsim)
pybind11_add_module(tbdsim_python MODULE NO_EXTRAS model/python/module.cpp)
set_target_properties(tbdsim_python PROPERTIES OUTPUT_NAME _tbdsim LIBRARY_OUTPUT_DIRECTORY ${python_package})
target_link_libraries(tbdsim_python PRIVATE tbdsim_flags fmt::fmt tbdsim_cli)
target_include_directories(tbdsim_python SYSTEM PRIVATE ${pybind11_INCLUDE_DIRS})

set(python_sources __init__.py _answer.py _question.py py.typed)
set(python_copies "")
foreach(source IN LISTS python_sources)
  add_custom_command(OUTPUT ${python_package}/${source}
                     COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/model/python/tbdsim/${source} ${python_package}/${source}
                     DEPENDS model/python/tbdsim/${source} VERBATIM)
  list(APPEND python_copies ${python_package}/${source})
endforeach()
# Signatures and answers as they are, so that the stubs are never older than the module.
add_custom_command(OUTPUT ${python_package}/__init__.pyi
                   COMMAND ${CMAKE_COMMAND} -E env TBDSIM_CATALOGUE=${PROJECT_SOURCE_DIR} PYTHONPATH=${PROJECT_BINARY_DIR}/python
                           PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/model/python/stubs.py
                           ${python_package}/__init__.pyi
                   DEPENDS tbdsim_python ${python_copies} model/python/stubs.py VERBATIM)
add_custom_target(tbdsim_python_package ALL DEPENDS tbdsim_python ${python_copies} ${python_package}/__init__.pyi)

# A Debian package of its own, so that only who wants it installs Python. Others name another folder.
set(TBDSIM_PYTHON_FOLDER lib/python3/dist-packages CACHE STRING "Where the Python module is installed, below the prefix")
install(TARGETS tbdsim_python LIBRARY DESTINATION ${TBDSIM_PYTHON_FOLDER}/tbdsim COMPONENT python)
install(FILES ${python_copies} ${python_package}/__init__.pyi DESTINATION ${TBDSIM_PYTHON_FOLDER}/tbdsim COMPONENT python)
