# SPDX-License-Identifier: Apache-2.0
# Writes util/version.hpp for numawarp_main at build time. The header is not written when CMake
# configures, because CMake does not configure again after a commit. If the content of the header
# does not change, the file is not rewritten, so that nothing is compiled again.
#
# src/CMakeLists.txt includes this file. If CMake runs this file as a script, with SOURCE, OUTPUT
# and NUMAWARP_VERSION, the script writes the header.
if(CMAKE_SCRIPT_MODE_FILE)
    set(NUMAWARP_COMMIT "unknown")
    find_program(GIT git)
    if(GIT)
        execute_process(
            COMMAND "${GIT}" -C "${SOURCE}" describe --always --dirty --abbrev=12 --exclude=*
            OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
            RESULT_VARIABLE failed)
        if(NOT failed)
            set(NUMAWARP_COMMIT "${described}")
        endif()
    endif()
    configure_file("${SOURCE}/version.hpp.in" "${OUTPUT}" @ONLY)
    return()
endif()

set(version_header "${PROJECT_BINARY_DIR}/generated/util/version.hpp")
add_custom_target(numawarp_version
    COMMAND "${CMAKE_COMMAND}" -DSOURCE=${CMAKE_CURRENT_LIST_DIR} -DOUTPUT=${version_header}
            -DNUMAWARP_VERSION=${PROJECT_VERSION} -P "${CMAKE_CURRENT_LIST_FILE}"
    COMMENT "Noting version and commit"
    BYPRODUCTS "${version_header}"
    VERBATIM)
add_dependencies(numawarp_main numawarp_version)
target_include_directories(numawarp_main PRIVATE "${PROJECT_BINARY_DIR}/generated")
