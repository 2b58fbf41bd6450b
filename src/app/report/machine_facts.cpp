// SPDX-License-Identifier: Apache-2.0
#include "app/report/machine_facts.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "numa/os/control_groups.hpp"
#include "numa/os/machine.hpp"
#include "numa/os/os.hpp"

namespace nw {
namespace {

#if defined(__clang__)
constexpr const char* compiler = "Clang " __clang_version__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

std::string kernel_release() {
    std::ifstream file("/proc/sys/kernel/osrelease");
    std::string release;
    return std::getline(file, release) ? "Linux " + release : "unknown";
}

// The number is rounded up: with a quota of 1.5 CPUs, two threads run at once for some of the time.
unsigned usable_cpus() {
    const auto bound_to = static_cast<double>(linux_os().thread_cpus().size());
    return static_cast<unsigned>(std::min(bound_to, std::ceil(ControlGroups().cpu_quota())));
}

}  // namespace

MachineFacts machine_facts() { return {cpu_name(), usable_cpus(), kernel_release(), compiler}; }

std::string date_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(std::time(nullptr)));
}

}  // namespace nw
