// SPDX-License-Identifier: Apache-2.0
// The limits that Linux control groups set for this process, version 1 and version 2
// (Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst of the kernel).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace nw {

class ControlGroups {
  public:
    // `membership`: file with the groups of the process; `mount`: folder in which the kernel shows
    // the groups. Tests pass their own files.
    explicit ControlGroups(std::string membership = "/proc/self/cgroup",
                           std::string mount = "/sys/fs/cgroup")
        : membership_(std::move(membership)), mount_(std::move(mount)) {}

    // Bytes below the tightest limit of the process's group and of the groups that contain it. Page
    // cache and other memory that the kernel reclaims on demand counts as available. UINT64_MAX:
    // there is no limit. Throws std::bad_alloc.
    std::uint64_t available_bytes() const;

    // The tightest quota, in CPUs: CPU time per period, divided by the period. Infinity: there is
    // no quota.
    double cpu_quota() const;

  private:
    template <class Visit>
    void for_each_folder(const char* controller, Visit&& visit) const;

    std::string membership_;
    std::string mount_;
};

}  // namespace nw
