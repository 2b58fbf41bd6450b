// SPDX-License-Identifier: Apache-2.0
// Tests the counters of a thread: which values are scaled, which counters are refused, and the
// counters of the kernel. Every machine has a counter of page faults.
#include <cerrno>
#include <cstddef>

#include <sys/mman.h>

#include "numa/os/thread_counters.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"

using namespace nw;

namespace {

using Call = FakeOs::Call;

// Fresh pages; touch_all() touches them one by one.
class FreshPages {
  public:
    FreshPages() {
        REQUIRE(base_ != MAP_FAILED);
        ::madvise(base_, bytes, MADV_NOHUGEPAGE);
    }
    ~FreshPages() { ::munmap(base_, bytes); }

    void touch_all() {
        for (std::size_t page = 0; page < count; ++page)
            static_cast<volatile std::byte*>(base_)[page * page_bytes] = std::byte{1};
    }

    static constexpr std::size_t count = 100, bytes = count * page_bytes;

  private:
    void* base_ =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

}  // namespace

TEST_CASE("ThreadCounters: a counter that ran for a part of the time is scaled to the whole time") {
    FakeOs os(1, 1);
    os.set_reading(HardwareCounter::instructions, {1000, 80, 80});
    os.set_reading(HardwareCounter::loads, {300, 80, 20});
    os.set_reading(HardwareCounter::dtlb_misses, {0, 80, 0});
    HardwareCounts counts = ThreadCounters(os, true).counts();
    CHECK(counts[HardwareCounter::instructions] == 1000);
    CHECK(counts[HardwareCounter::loads] == 1200);
    CHECK_FALSE(counts[HardwareCounter::dtlb_misses]);
    CHECK(counts.refused[static_cast<std::size_t>(HardwareCounter::dtlb_misses)] == EBUSY);
    CHECK(os.count(Call::open_counter) == hardware_counter_count);
    CHECK(os.count(Call::close_counter) == hardware_counter_count);
}

TEST_CASE(
    "ThreadCounters: a refused counter has a reason instead of a count, and other counters count") {
    FakeOs os(1, 1);
    os.fail_next(Call::open_counter, ENOENT, 2);
    os.set_reading(HardwareCounter::instructions, {7, 1, 1});
    os.set_reading(HardwareCounter::loads, {7, 1, 1});
    HardwareCounts counts = ThreadCounters(os, true).counts();
    CHECK_FALSE(counts[HardwareCounter::instructions]);
    CHECK(counts.refused.front() == ENOENT);
    CHECK(counts[HardwareCounter::loads] == 7);
    CHECK(os.count(Call::close_counter) == hardware_counter_count - 2);
}

TEST_CASE("ThreadCounters: no counter is opened or refused unless counting is requested") {
    FakeOs os(1, 1);
    const HardwareCounts counts = ThreadCounters(os, false).counts();
    CHECK(os.records().empty());
    for (std::size_t i = 0; i < hardware_counter_count; ++i) {
        CHECK_FALSE(counts.counts[i]);
        CHECK(counts.refused[i] == 0);
    }
}

TEST_CASE("HardwareCounts: if one term is missing, the sum has the reason instead of a count") {
    HardwareCounts sum, other;
    sum[HardwareCounter::cycles] = 5;
    sum[HardwareCounter::loads] = 1;
    other[HardwareCounter::cycles] = 6;
    other.refused[static_cast<std::size_t>(HardwareCounter::loads)] = EPERM;
    sum += other;
    CHECK(sum[HardwareCounter::cycles] == 11);
    CHECK_FALSE(sum[HardwareCounter::loads]);
    CHECK(sum.refused[static_cast<std::size_t>(HardwareCounter::loads)] == EPERM);
}

TEST_CASE("ThreadCounters: the kernel counts this thread's page faults") {
    FreshPages before, meanwhile;
    before.touch_all();
    const ThreadCounters counters(linux_os(), true);
    meanwhile.touch_all();
    HardwareCounts counts = counters.counts();
    const std::size_t faults = static_cast<std::size_t>(HardwareCounter::page_faults);
    if (counts.refused[faults] != 0) {
        WARN("the kernel does not allow counters here:" << counts.refused[faults]);
        return;
    }
    CHECK(*counts[HardwareCounter::page_faults] >= FreshPages::count);
    CHECK(*counts[HardwareCounter::page_faults] < 2 * FreshPages::count);
    CHECK(*counts[HardwareCounter::cpu_ns] > 0);
}
