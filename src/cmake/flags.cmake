# SPDX-License-Identifier: Apache-2.0
# Compiler flags and include roots: first those that every user of numawarp needs, then those for
# numawarp's own sources.

# Release uses CMake's default, -O3 -DNDEBUG. On PHOLD, it is 1 to 7 % faster than -O2. Link-time
# optimization was tried and gained nothing. -march=native is not used, because a binary must run on
# all machines of a cluster.

# With floating-point contraction, a compiler may fuse a*b+c and round once instead of twice. The
# digest of a model would then depend on the compiler and the machine.
add_library(numawarp_flags INTERFACE)
target_compile_features(numawarp_flags INTERFACE cxx_std_20)
target_compile_options(numawarp_flags INTERFACE -ffp-contract=off)

# The prefix map removes the path of the source folder from messages and debug information, so that
# two checkouts give the same binary.
add_library(numawarp_own_flags INTERFACE)
target_compile_options(numawarp_own_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow
    # GCC 12 reports an overlapping copy in every `"text" + std::string` (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    # Checks the annotations of util/locks.hpp.
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
    $<$<BOOL:${NUMAWARP_WERROR}>:-Werror>
    "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
target_compile_definitions(numawarp_own_flags INTERFACE
    $<$<BOOL:${NUMAWARP_PARANOID}>:NUMAWARP_PARANOID>
    $<$<BOOL:${NUMAWARP_TESTS}>:NUMAWARP_HANDOFF_HOOK>
    $<$<NOT:$<BOOL:${NUMAWARP_PREFETCH}>>:NUMAWARP_NO_PREFETCH>)

# Include roots for numawarp's libraries and tests. Models do not get them, so that a model that
# includes an internal header does not compile.
add_library(numawarp_inner INTERFACE)
target_include_directories(numawarp_inner INTERFACE
    "${PROJECT_SOURCE_DIR}/src/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")

# Every object of a program must be compiled for the sanitizers, so these options are set for all
# targets at once. The three excluded checks take much time to compile and find little. An access
# through a null pointer ends the program anyway.
if(NUMAWARP_SANITIZE)
    add_compile_options(
        -fsanitize=${NUMAWARP_SANITIZE} -fno-sanitize=null,vptr,object-size -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${NUMAWARP_SANITIZE})
endif()
