# SPDX-License-Identifier: Apache-2.0
# Replaces ROSS's own package in projects that call find_package(ROSS). Configure such a project
# with this folder as ROSS_DIR.
include(CMakeFindDependencyMacro)
set(numawarp_DIR "${CMAKE_CURRENT_LIST_DIR}/..")
find_dependency(numawarp COMPONENTS ross)
if(NOT TARGET ROSS::ROSS)
    add_library(ROSS::ROSS INTERFACE IMPORTED)
    target_link_libraries(ROSS::ROSS INTERFACE numawarp::ross)
endif()
