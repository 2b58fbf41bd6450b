# SPDX-License-Identifier: Apache-2.0
# Writes numawarp/headers.hpp, which must be the same for a program and the library, because inline
# functions of the public headers use the engine's data structures.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/include/numawarp/*.hpp")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
set(texts "")
foreach(header IN LISTS headers)
    file(READ "${header}" text)
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    string(APPEND texts "${text}")
endforeach()
string(SHA256 NUMAWARP_HEADERS "${texts}")
string(SUBSTRING "${NUMAWARP_HEADERS}" 0 16 NUMAWARP_HEADERS)
set(NUMAWARP_HEADERS_FOLDER "${PROJECT_BINARY_DIR}/include")
configure_file("${CMAKE_CURRENT_LIST_DIR}/headers.hpp.in" "${NUMAWARP_HEADERS_FOLDER}/numawarp/headers.hpp" @ONLY)
# A source file of the lowest layer.
set(NUMAWARP_HEADERS_SOURCE "${PROJECT_BINARY_DIR}/headers.cpp")
file(CONFIGURE OUTPUT "${NUMAWARP_HEADERS_SOURCE}" @ONLY CONTENT
    "#include <numawarp/headers.hpp>\n\nvoid nw::detail::NUMAWARP_SAME_HEADERS() noexcept {}\n")
