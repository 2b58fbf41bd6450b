# SPDX-License-Identifier: Apache-2.0
# The rules of cmake --install, and the files that find_package(numawarp) needs.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/numawarp")

install(DIRECTORY src/include/numawarp "${NUMAWARP_HEADERS_FOLDER}/numawarp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY src/compat/ross/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/numawarp-ross")
install(TARGETS
        numawarp numawarp_main numawarp_mpi numawarp_core numawarp_memory numawarp_numa
        numawarp_base numawarp_interpose numawarp_flags numawarp_ross
    EXPORT numawarp-targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    OBJECTS DESTINATION "${CMAKE_INSTALL_LIBDIR}/numawarp")
install(EXPORT numawarp-targets NAMESPACE numawarp:: DESTINATION "${package_dir}")

configure_package_config_file(src/cmake/numawarp-config.cmake.in
    "${PROJECT_BINARY_DIR}/numawarp-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/numawarp-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES
        "${PROJECT_BINARY_DIR}/numawarp-config.cmake"
        "${PROJECT_BINARY_DIR}/numawarp-config-version.cmake"
        src/cmake/dependencies.cmake
    DESTINATION "${package_dir}")
# For projects that call find_package(ROSS). CMake does not search this folder by default, so that
# no project finds the file by chance.
install(FILES src/compat/ross/ROSSConfig.cmake DESTINATION "${package_dir}/ROSS")
