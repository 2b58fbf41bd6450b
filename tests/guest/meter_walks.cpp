// Walks through memory whose accesses are known exactly, for the test of the meter.
//
// usage: meter_walks CPU NODE WALK COUNT ROUNDS     the last as often as wanted, from CPU on
//   WALK  chase: from line to line, in an order that no line repeats; pages: one word of each page
//   On CPU, through COUNT lines or pages on NODE, ROUNDS times. Each walk is a phase of its own, in the
//   order of their numbers from `execute` on, and all the memory is of kind `state`.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include <numaif.h>
#include <sched.h>
#include <sys/mman.h>

#include "base/meter_marks.hpp"

namespace {

struct Place {
    Place* next;
};

Place* make_ring(int node, std::size_t count, std::size_t stride) {
    const std::size_t bytes = count * stride;
    auto* const memory = static_cast<std::byte*>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const unsigned long mask = 1UL << node;
    if (memory == MAP_FAILED || madvise(memory, bytes, MADV_NOHUGEPAGE) != 0 ||
        mbind(memory, bytes, MPOL_BIND, &mask, 64, 0) != 0) {
        std::perror("meter_walks");
        std::exit(1);
    }
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin() + 1, order.end(), std::mt19937_64{1});
    for (std::size_t i = 0; i < count; ++i)
        reinterpret_cast<Place*>(memory + order[i] * stride)->next =
            reinterpret_cast<Place*>(memory + order[(i + 1) % count] * stride);
    nw::meter_memory<nw::MeterKind::state>(memory, bytes);
    return reinterpret_cast<Place*>(memory);
}

template <nw::MeterPhase phase>
void walk(Place* at, std::size_t steps) {
    nw::meter_phase<phase>();
    for (; steps > 0; --steps) at = at->next;
    asm volatile("" ::"r"(at));
    nw::meter_phase<nw::MeterPhase::none>();
}

}  // namespace

int main(int argc, char** argv) {
    for (int i = 1, nth = 0; i + 4 < argc; i += 5, ++nth) {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        CPU_SET(static_cast<std::size_t>(std::atoi(argv[i])), &cpus);
        if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) return 1;
        const auto count = std::strtoull(argv[i + 3], nullptr, 10);
        const bool by_page = std::strcmp(argv[i + 2], "pages") == 0;
        Place* const ring = make_ring(std::atoi(argv[i + 1]), count, by_page ? 4096 : 64);
        const std::size_t steps = count * std::strtoull(argv[i + 4], nullptr, 10);
        using enum nw::MeterPhase;
        switch (nth) {
            case 0:
                walk<execute>(ring, steps);
                break;
            case 1:
                walk<roll_back>(ring, steps);
                break;
            case 2:
                walk<commit>(ring, steps);
                break;
            case 3:
                walk<mail>(ring, steps);
                break;
            default:
                return 2;
        }
    }
}
