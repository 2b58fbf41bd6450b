# Writes base/version.hpp for numawarp_main. It is written at build time and not when CMake
# configures: a commit does not configure anew. An unchanged file is left alone, so that nothing is
# compiled again for it.
#
# Included by src/CMakeLists.txt; run by itself, with SOURCE, OUTPUT and NUMAWARP_VERSION given, it
# writes the file.
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

set(version_header "${PROJECT_BINARY_DIR}/generated/base/version.hpp")
add_custom_target(numawarp_version
    COMMAND "${CMAKE_COMMAND}" -DSOURCE=${CMAKE_CURRENT_LIST_DIR} -DOUTPUT=${version_header}
            -DNUMAWARP_VERSION=${PROJECT_VERSION} -P "${CMAKE_CURRENT_LIST_FILE}"
    COMMENT "Noting version and commit"
    BYPRODUCTS "${version_header}"
    VERBATIM)
add_dependencies(numawarp_main numawarp_version)
target_include_directories(numawarp_main PRIVATE "${PROJECT_BINARY_DIR}/generated")
