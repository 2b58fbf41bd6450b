# SPDX-License-Identifier: Apache-2.0
# The libraries that numawarp needs. This file is installed beside numawarp-config.cmake, so that a
# user's project finds the same libraries in the same way.
include(CMakeFindDependencyMacro)

# Makes the target numawarp::<name> for a library without a CMake package. HEADER is a header of the
# library, which may also be below include/FOLDER. LIBRARY lists possible names of the library; the
# first one that is found is used. DEBIAN is the package that the error message names.
function(numawarp_find_library name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "HEADER;FOLDER;DEBIAN" "LIBRARY")
    if(TARGET numawarp::${name})
        return()
    endif()
    find_path(NUMAWARP_${name}_INCLUDE_DIR ${ARG_HEADER} PATH_SUFFIXES ${ARG_FOLDER})
    mark_as_advanced(NUMAWARP_${name}_INCLUDE_DIR)
    if(NOT NUMAWARP_${name}_INCLUDE_DIR)
        message(FATAL_ERROR "numawarp: ${ARG_HEADER} not found (Debian package ${ARG_DEBIAN})")
    endif()
    add_library(numawarp::${name} INTERFACE IMPORTED)
    target_include_directories(numawarp::${name} INTERFACE "${NUMAWARP_${name}_INCLUDE_DIR}")
    if(ARG_LIBRARY)
        find_library(NUMAWARP_${name}_LIBRARY NAMES ${ARG_LIBRARY})
        mark_as_advanced(NUMAWARP_${name}_LIBRARY)
        if(NOT NUMAWARP_${name}_LIBRARY)
            message(FATAL_ERROR
                "numawarp: no library ${ARG_LIBRARY} found (Debian package ${ARG_DEBIAN})")
        endif()
        target_link_libraries(numawarp::${name} INTERFACE "${NUMAWARP_${name}_LIBRARY}")
    endif()
endfunction()

# Needed to link a model, also with an installed numawarp.
find_dependency(Threads)
find_dependency(fmt)
find_dependency(MPI COMPONENTS CXX)
numawarp_find_library(libnuma HEADER numa.h LIBRARY numa DEBIAN libnuma-dev)
numawarp_find_library(libhwloc HEADER hwloc.h LIBRARY hwloc DEBIAN libhwloc-dev)
numawarp_find_library(libmetis HEADER metis.h LIBRARY metis DEBIAN libmetis-dev)
# CMake's FindHDF5 is not used, because it requires a project with the language C. Debian's serial
# build of HDF5 has a different name and a separate folder, so that builds for MPI can be installed
# beside it.
numawarp_find_library(libhdf5 HEADER hdf5.h FOLDER hdf5/serial LIBRARY hdf5_serial hdf5
    DEBIAN libhdf5-dev)
