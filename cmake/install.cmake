# Programs, catalogue, library with its headers, manual page, completion; the Debian package that holds them.
include(CMakePackageConfigHelpers)

set(TBDSIM_DATA ${CMAKE_INSTALL_DATADIR}/tbdsim)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME tbdsim)
foreach(program tbdsim tbdsim-calibrate)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
if(TARGET tbdsim-mpi)
  install(TARGETS tbdsim-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)
endif()
install(DIRECTORY hardware scenarios DESTINATION ${TBDSIM_DATA} PATTERN import EXCLUDE)
install(DIRECTORY calibrate/samples calibrate/plans DESTINATION ${TBDSIM_DATA}/calibrate OPTIONAL)
# Pages and scripts that the texts name, at the paths by which they name them; Debian looks for licences in `copyright`.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES model/report/web/plot/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}/model/report/web/plot)
foreach(page hardware/README.md hardware/SOURCES.md scenarios/README.md scenarios/QUESTIONS.md scenarios/CLAIMS.md
        scenarios/CONTROLS.md scenarios/collectives/README.md scenarios/layouts/README.md
        scenarios/published/INDEX.md scenarios/published/NOTES.md
        calibrate/README.md calibrate/samples/README.md calibrate/collect/README.md
        calibrate/collect/pytorch_steps.py calibrate/collect/pytorch_attention.py model/cost/README.md
        model/memory/README.md model/schedule/divided/README.md model/schedule/pipeline/README.md model/stack/README.md
        model/workload/README.md model/workload/export_onnx.py)
  get_filename_component(folder ${page} DIRECTORY)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()

# The library: one target for all of model/ but its command line. Its headers are included as "model/prediction/predict.hpp".
set(library_layers ${layer_cli})
list(REMOVE_ITEM library_layers cli)
add_library(tbdsim_library INTERFACE)
set_target_properties(tbdsim_library PROPERTIES EXPORT_NAME tbdsim)
target_compile_features(tbdsim_library INTERFACE cxx_std_20)
target_include_directories(tbdsim_library INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tbdsim>)
foreach(layer IN LISTS library_layers)
  target_link_libraries(tbdsim_library INTERFACE tbdsim_${layer})
  install(TARGETS tbdsim_${layer} EXPORT tbdsimTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
install(TARGETS tbdsim_library tbdsim_flags EXPORT tbdsimTargets)
install(DIRECTORY model DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tbdsim FILES_MATCHING PATTERN "*.hpp"
        PATTERN cli EXCLUDE PATTERN web EXCLUDE)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tbdsim)
install(EXPORT tbdsimTargets NAMESPACE tbdsim:: DESTINATION ${package_folder})
configure_package_config_file(cmake/tbdsimConfig.cmake.in ${PROJECT_BINARY_DIR}/tbdsimConfig.cmake
                              INSTALL_DESTINATION ${package_folder} PATH_VARS TBDSIM_DATA)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tbdsimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tbdsimConfig.cmake ${PROJECT_BINARY_DIR}/tbdsimConfigVersion.cmake
        DESTINATION ${package_folder})

# What the program tells of itself.
if(TARGET tbdsim AND NOT CMAKE_CROSSCOMPILING)
  set(made "")
  foreach(document "man tbdsim.1" "formats formats.md" "bash tbdsim.bash" "zsh _tbdsim" "fish tbdsim.fish")
    separate_arguments(document UNIX_COMMAND ${document})
    list(GET document 0 kind)
    list(GET document 1 file)
    add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/${file}
                       COMMAND ${CMAKE_COMMAND} -E env TBDSIM_CATALOGUE=${PROJECT_SOURCE_DIR} $<TARGET_FILE:tbdsim> docs ${kind}
                               > ${PROJECT_BINARY_DIR}/${file}
                       DEPENDS tbdsim VERBATIM)
    list(APPEND made ${PROJECT_BINARY_DIR}/${file})
  endforeach()
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/sample-formats.md
                     COMMAND tbdsim-calibrate formats > ${PROJECT_BINARY_DIR}/sample-formats.md DEPENDS tbdsim-calibrate VERBATIM)
  list(APPEND made ${PROJECT_BINARY_DIR}/sample-formats.md)
  install(FILES ${PROJECT_BINARY_DIR}/formats.md ${PROJECT_BINARY_DIR}/sample-formats.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
  add_custom_target(tbdsim_documents ALL DEPENDS ${made})
  install(FILES ${PROJECT_BINARY_DIR}/tbdsim.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_BINARY_DIR}/tbdsim.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME tbdsim)
  install(FILES ${PROJECT_BINARY_DIR}/tbdsim.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  # Debian's zsh looks for what packages bring in vendor-completions, every other for what is built in site-functions.
  foreach(folder site-functions vendor-completions)
    install(FILES ${PROJECT_BINARY_DIR}/_tbdsim DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${folder})
  endforeach()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tbdsim)
set(CPACK_PACKAGE_VENDOR tbdsim)
set(CPACK_PACKAGE_CONTACT "tbdsim maintainers <maintainers@tbdsim.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libfmt-dev, libtomlplusplus-dev, libboost-graph-dev, nlohmann-json3-dev, libsqlite3-dev, zlib1g-dev, libexpected-dev")
# A package of its own for tbdsim-mpi, so that only who wants it installs MPI.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL tbdsim)
set(CPACK_DEBIAN_TBDSIM_PACKAGE_NAME tbdsim)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
if(TARGET tbdsim-mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME tbdsim-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_SUGGESTS "openmpi-bin")
  set(CPACK_COMPONENT_MPI_DEPENDS tbdsim)
endif()
if(TARGET tbdsim_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-tbdsim)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas, python3-numpy")
  set(CPACK_COMPONENT_PYTHON_DEPENDS tbdsim)
endif()
include(CPack)
