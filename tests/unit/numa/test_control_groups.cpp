// SPDX-License-Identifier: Apache-2.0
// Tests the limits of control groups of both versions. The limits are read from files that the test
// writes.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "numa/os/control_groups.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

class Files {
  public:
    void write(const std::string& name, const std::string& text) {
        const std::filesystem::path path = folder_.path() + "/" + name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    nw::ControlGroups groups() const {
        return nw::ControlGroups(folder_.path() + "/cgroup", folder_.path());
    }

  private:
    nw::test::TemporaryFolder folder_;
};

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

}  // namespace

TEST_CASE("ControlGroups: without groups or limits memory and CPU time are unlimited") {
    Files files;
    CHECK(files.groups().available_bytes() == UINT64_MAX);
    files.write("cgroup", "0::/job\n");
    files.write("job/memory.max", "max\n");
    files.write("job/cpu.max", "max 100000\n");
    CHECK(files.groups().available_bytes() == UINT64_MAX);
    CHECK(files.groups().cpu_quota() == std::numeric_limits<double>::infinity());
}

TEST_CASE(
    "ControlGroups: version 2: the lowest limit counts and the page cache is available memory") {
    Files files;
    files.write("cgroup", "0::/job/step\n");
    files.write("job/step/memory.max", "1073741824\n");
    files.write("job/step/memory.current", "104857600\n");
    files.write("job/memory.max", "524288000\n");  // 500 MiB
    files.write("job/memory.current", "524288000\n");
    files.write("job/memory.stat",
                "anon 52428800\nfile 471859200\nshmem 10485760\ninactive_file 314572800\n"
                "active_file 104857600\nslab_reclaimable 10485760\n");
    CHECK(files.groups().available_bytes() == (300 + 100 + 10) * mib);
    files.write("job/cpu.max", "150000 100000\n");
    files.write("job/step/cpu.max", "400000 100000\n");
    CHECK(files.groups().cpu_quota() == 1.5);
}

TEST_CASE("ControlGroups: version 1: each controller has its own folder") {
    Files files;
    files.write("cgroup", "5:cpu,cpuacct:/job\n4:memory:/job\n1:name=systemd:/\n");
    files.write("memory/job/memory.limit_in_bytes", "209715200\n");  // 200 MiB
    files.write("memory/job/memory.usage_in_bytes", "188743680\n");
    files.write(
        "memory/job/memory.stat",
        "cache 999\ninactive_file 1\ntotal_inactive_file 104857600\ntotal_active_file 52428800\n");
    CHECK(files.groups().available_bytes() == (20 + 100 + 50) * mib);
    CHECK(files.groups().cpu_quota() == std::numeric_limits<double>::infinity());
    files.write("cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
    files.write("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    CHECK(files.groups().cpu_quota() == std::numeric_limits<double>::infinity());
    files.write("cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
    CHECK(files.groups().cpu_quota() == 0.5);
}

// A container may hide the groups above its own group. Then the root of the mount is the
// container's group.
TEST_CASE("ControlGroups: the path may be the path on the host") {
    Files files;
    files.write("cgroup", "0::/docker/abc\n");
    files.write("memory.max", "104857600\n");
    files.write("memory.current", "1048576\n");
    CHECK(files.groups().available_bytes() == 99 * mib);
}
