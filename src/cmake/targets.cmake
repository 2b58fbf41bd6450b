# SPDX-License-Identifier: Apache-2.0
# Two functions: numawarp_add_layer() adds the static library of a layer, and numawarp_add_model()
# adds a model, which links all layers.

# numawarp_add_layer(core FOLDERS src/event src/lp LINK numawarp_numa HEADER_ONLY ...) adds the
# static library numawarp_core, from all .cpp files in the folders. HEADER_ONLY lists libraries
# whose headers only numawarp's own sources include. $<BUILD_INTERFACE:> keeps these libraries out
# of the installed package.
function(numawarp_add_layer name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "FOLDERS;LINK;HEADER_ONLY")
    set(target numawarp_${name})
    set(patterns ${ARG_FOLDERS})
    list(TRANSFORM patterns PREPEND "${PROJECT_SOURCE_DIR}/")
    list(TRANSFORM patterns APPEND "/*.cpp")
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
    add_library(${target} STATIC ${sources})
    target_include_directories(${target}
        PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src/include>
               $<BUILD_INTERFACE:${NUMAWARP_HEADERS_FOLDER}>
               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target} PUBLIC numawarp_flags ${ARG_LINK})
    foreach(library IN ITEMS numawarp_own_flags numawarp_inner ${ARG_HEADER_ONLY})
        target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}>)
    endforeach()
    # A build with sanitizers serves only for tests, and compiles common headers once for all
    # sources. A release does not precompile headers: a source that misses an include would still
    # compile, and g++ 12 reports wrong warnings about std::string at -O3.
    if(NUMAWARP_SANITIZE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
        if(name STREQUAL base)
            target_precompile_headers(${target} PRIVATE
                <algorithm> <atomic> <chrono> <cstdint> <cstring> <functional> <memory> <optional>
                <span> <string> <string_view> <vector> <fmt/format.h>)
        else()
            target_precompile_headers(${target} REUSE_FROM numawarp_base)
        endif()
    endif()
endfunction()

# numawarp_add_model(phold phold.cpp ...) adds the executable build/bin/phold.
function(numawarp_add_model name)
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE numawarp::numawarp numawarp_own_flags)
endfunction()
