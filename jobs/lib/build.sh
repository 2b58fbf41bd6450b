# SPDX-License-Identifier: Apache-2.0
# The release build in build/, which jobs/run and tests/run share. Requires: $root is the checkout.
#
# No presets are used, because CMake 3.22 of Ubuntu 22.04 cannot read the presets of numawarp.

# configure_release OPTION...: configures build/; prints the output of cmake only if it fails.
configure_release() {
    local log
    echo "numawarp: configuring build/"
    if ! log=$(cmake -S "$root" -B "$root/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "$@" 2>&1)
    then
        echo "$log" >&2
        exit 1
    fi
}

# build_release [TARGET]: builds everything, or one target.
build_release() {
    echo "numawarp: building ${1:-everything}"
    cmake --build "$root/build" ${1:+--target "$1"} || exit 1
}
