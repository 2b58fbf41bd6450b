// SPDX-License-Identifier: Apache-2.0
// The limits that Linux control groups, of version 1 or version 2, set for this process. The kernel
// describes them in Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst.
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

    // Returns the number of bytes that the process can still allocate before it reaches a limit of
    // its group or of a group that contains its group. Page cache and other memory that the kernel
    // reclaims on demand counts as available. UINT64_MAX: there is no limit. Throws std::bad_alloc.
    std::uint64_t available_bytes() const;

    // Returns the smallest quota of these groups, in CPUs: the CPU time per period, divided by the
    // period. Infinity: there is no quota.
    double cpu_quota() const;

  private:
    template <class Visit>
    void for_each_folder(const char* controller, Visit&& visit) const;

    std::string membership_;
    std::string mount_;
};

}  // namespace nw
