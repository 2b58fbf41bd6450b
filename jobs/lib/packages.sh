# SPDX-License-Identifier: Apache-2.0
# The packages that numawarp needs, and their installation. Sourced by jobs/run, tests/run and
# .ci/run; this is the only list.
#
# A package is missing if the needed part of it cannot be found: a command, a header for the
# compiler or for MPI's compiler wrapper, a Python module, or a sanitizer. dpkg is not used,
# because libraries may have been installed in another way.

# set    package              found by                            what for
packages='
build    g++                  command g++                         compiler, C++20 (11 or newer)
build    cmake                command cmake                       build system (3.22 or newer)
build    ninja-build          command ninja                       runs the compilers
build    libnuma-dev          header numa.h                       memory policies and page migration
build    libhwloc-dev         header hwloc.h                      cores and NUMA nodes
build    libmetis-dev         header metis.h                      distributes LPs over workers
build    libfmt-dev           header fmt/format.h                 text
build    libcli11-dev         header CLI/CLI.hpp                  command lines
build    libhdf5-dev          header hdf5.h|hdf5/serial/hdf5.h    output in typed columns
build    nlohmann-json3-dev   header nlohmann/json.hpp            statistics
build    libtomlplusplus-dev  header toml++/toml.h                road networks
build    libxxhash-dev        header xxhash.h                     the digest
build    libopenmpi-dev       mpi mpi.h                           several ranks
build    librandom123-dev     header Random123/philox.h           random numbers
test     catch2               header catch2/catch.hpp|catch2/catch_all.hpp  unit tests
test     python3              command python3                     checks of the source tree
test     spin                 command spin                        model checker, for GVT
test     python3-h5py         python h5py                         reads output in typed columns
test     clang-format         command clang-format                layout of the sources
test     doxygen              command doxygen                     reference of the public headers
test     libsqlite3-dev       header sqlite3.h                    a library that tests use in handlers
ranks    openmpi-bin          command mpirun                      starts ranks
ranks    python3              command python3                     selects the cores of each rank
reference doxygen             command doxygen                     pages of jobs/run reference
reference python3             command python3                     reads the comments of the headers
report   python3              command python3                     the page of jobs/run report
plots    python3-matplotlib   python matplotlib                   figures of jobs/run paper-numa
intervals python3-scipy     python scipy                        quantiles of jobs/run replicate
counts   valgrind             command valgrind                    instructions and cache misses, for bench and paper-state-saving
guest    qemu-system-x86      command qemu-system-x86_64          a machine with several NUMA nodes
guest    python3              command python3                     starts this machine
guest    numactl              command numactl                     shows nodes, binds memory
guest    zstd                 command zstd                        unpacks kernel modules of Ubuntu
beside   python3-simpy3       python simpy                        the same models in SimPy
pictures librsvg2-bin         command rsvg-convert                pictures of a network
pictures chromium             command chromium                    pictures of a report
pictures python3-pil          python PIL                          counts the colors of pictures
hosts    iproute2             command ip                          gives addresses to hosts on this machine
slurm    slurm-wlm            command srun                        schedules jobs over hosts
slurm    munge                command munge                       authenticates the daemons of SLURM
nightly  clang                command clang++                     another compiler, and libFuzzer
nightly  libclang-rt-dev      sanitizer clang++                   the sanitizers of clang
nightly  debootstrap          command debootstrap                 creates a bare Debian system
'

# header_exists HEADER[|HEADER]: succeeds if one of the headers can be included.
header_exists() {
    local header
    for header in ${1//|/ }; do
        echo "#include <$header>" | g++ -std=c++20 -E -x c++ - >/dev/null 2>&1 && return 0
    done
    return 1
}

# python_with MODULE: prints a python3 that has the module. Debian's packages are for
# /usr/bin/python3, which is not always the first python3 in PATH.
python_with() {
    local python
    for python in python3 /usr/bin/python3; do
        "$python" -c "import $1" >/dev/null 2>&1 && echo "$python" && return 0
    done
    return 1
}

# missing_packages SET...: prints the missing packages of these sets, one per line.
missing_packages() {
    local set package kind probe _
    while read -r set package kind probe _; do
        [[ " $* " == *" $set "* ]] || continue
        case $kind in
            command) command -v "$probe" >/dev/null || echo "$package" ;;
            header) header_exists "$probe" || echo "$package" ;;
            mpi) echo "#include <$probe>" | mpicxx -E -x c++ - >/dev/null 2>&1 || echo "$package" ;;
            sanitizer)
                echo "int main() {}" | "$probe" -fsanitize=address -x c++ -o /dev/null - 2>/dev/null || echo "$package" ;;
            python) python_with "$probe" >/dev/null || echo "$package" ;;
        esac
    done <<<"$packages"
}

# install_packages SET...: installs the missing packages by apt; exits with code 4 if it cannot.
install_packages() {
    local missing as_root=()
    missing=$(missing_packages "$@" | xargs)
    [[ -n $missing ]] || return 0

    if ! command -v apt-get >/dev/null; then
        echo "numawarp: no apt on this system; please install (Debian names): $missing" >&2
        exit 4
    fi
    if [[ $EUID -ne 0 ]]; then
        if ! command -v sudo >/dev/null; then
            echo "numawarp: this user is not root, and sudo is missing; please install: $missing" >&2
            exit 4
        fi
        as_root=(sudo)
    fi

    echo "numawarp: installing $missing"
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq
               -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
    # A new container has no package lists. The lists of an old machine may name files that no
    # longer exist.
    apt-cache show g++ >/dev/null 2>&1 || "${apt[@]}" update
    # shellcheck disable=SC2086  # $missing is a list
    "${apt[@]}" install -y --no-install-recommends $missing ||
        { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends $missing; } ||
        {
            echo "numawarp: apt could not install: $missing" >&2
            exit 4
        }
}
