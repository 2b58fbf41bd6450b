# Compiler flags and include roots: what every user of numawarp must have, and what only our own
# sources are built with.

# Release is CMake's own -O3 -DNDEBUG: on PHOLD 1 to 7 % faster than -O2; link-time optimisation was
# tried and gained nothing. No -march=native: a binary must run on a cluster's other nodes.

# With contraction a compiler may fuse a*b+c and round once instead of twice: the digest of a model
# would then depend on the compiler and the machine.
add_library(numawarp_flags INTERFACE)
target_compile_features(numawarp_flags INTERFACE cxx_std_20)
target_compile_options(numawarp_flags INTERFACE -ffp-contract=off)

# The prefix map keeps the builder's folders out of messages and debug information: two checkouts
# give the same binary.
add_library(numawarp_own_flags INTERFACE)
target_compile_options(numawarp_own_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow
    # GCC 12 sees an overlapping copy in every `"text" + std::string` (its bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<BOOL:${NUMAWARP_WERROR}>:-Werror>
    "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
target_compile_definitions(numawarp_own_flags INTERFACE
    $<$<BOOL:${NUMAWARP_PARANOID}>:NUMAWARP_PARANOID>
    $<$<BOOL:${NUMAWARP_TESTS}>:NUMAWARP_HANDOFF_HOOK>
    $<$<NOT:$<BOOL:${NUMAWARP_PREFETCH}>>:NUMAWARP_NO_PREFETCH>)

# Our include roots, for our own libraries and tests. Models do not get them: a model that reaches
# for an inner header does not compile.
add_library(numawarp_inner INTERFACE)
target_include_directories(numawarp_inner INTERFACE
    "${PROJECT_SOURCE_DIR}/src/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")

# Sanitizers must see every object of a program, so they are set for all targets at once. The three that are
# left out are dear to compile for what they find; null pointers end a program anyway.
if(NUMAWARP_SANITIZE)
    add_compile_options(
        -fsanitize=${NUMAWARP_SANITIZE} -fno-sanitize=null,vptr,object-size -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${NUMAWARP_SANITIZE})
endif()
