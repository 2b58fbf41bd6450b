// SPDX-License-Identifier: Apache-2.0
// Walks through memory whose accesses are known exactly, for the test of the meter.
//
// usage: meter_walks CPU NODE WALK COUNT ROUNDS...     for each further walk: five more arguments
//   WALK  chase: from line to line, in an order in which no line occurs twice
//         pages: one word of each page
//         wide: like chase, by loads of 32 bytes
//         rewrite:OTHER: like chase, and each line is stored to as soon as it is loaded; each round
//         runs on CPU and then on the CPU OTHER
// The walk runs on CPU, through COUNT lines or pages on NODE, ROUNDS times. The first walk is the
// phase `execute`, and each further walk is the next phase. All the memory is of kind `state`.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include <numaif.h>
#include <sched.h>
#include <sys/mman.h>

#include "util/meter_marks.hpp"

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

void run_on(const char* cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(static_cast<std::size_t>(std::atoi(cpu)), &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) == 0) return;
    std::perror("meter_walks");
    std::exit(1);
}

template <nw::MeterPhase phase>
void load(Place* at, std::size_t steps) {
    nw::meter_phase<phase>();
    for (; steps > 0; --steps) at = at->next;
    asm volatile("" ::"r"(at));
    nw::meter_phase<nw::MeterPhase::none>();
}

template <nw::MeterPhase phase>
void load_wide([[maybe_unused]] Place* at, [[maybe_unused]] std::size_t steps) {
#if defined(__x86_64__)
    nw::meter_phase<phase>();
    for (; steps > 0; --steps)
        asm volatile("vmovdqa (%0), %%ymm0; vmovq %%xmm0, %0" : "+r"(at)::"xmm0", "memory");
    nw::meter_phase<nw::MeterPhase::none>();
#endif
}

template <nw::MeterPhase phase>
void rewrite(Place* at, std::size_t steps) {
    nw::meter_phase<phase>();
    for (; steps > 0; --steps) {
        Place* const next = at->next;
        asm volatile("" ::"r"(next) : "memory");  // otherwise the compiler would remove the store
        at->next = next;
        at = next;
    }
    nw::meter_phase<nw::MeterPhase::none>();
}

template <nw::MeterPhase phase>
void walk(const char* const* words) {
    constexpr std::string_view rewriting = "rewrite:";
    const char* const cpu = words[0];
    const std::string_view kind = words[2];
    const auto count = std::strtoull(words[3], nullptr, 10);
    const auto rounds = std::strtoull(words[4], nullptr, 10);
    run_on(cpu);
    Place* const ring = make_ring(std::atoi(words[1]), count, kind == "pages" ? 4096 : 64);
    if (kind == "wide") return load_wide<phase>(ring, count * rounds);
    if (kind.substr(0, rewriting.size()) != rewriting) return load<phase>(ring, count * rounds);
    for (auto round = rounds; round > 0; --round) {
        for (const char* const on : {cpu, words[2] + rewriting.size()}) {
            run_on(on);
            rewrite<phase>(ring, count);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    using enum nw::MeterPhase;
    constexpr void (*walks[])(const char* const*) = {walk<execute>, walk<roll_back>, walk<commit>,
                                                     walk<mail>, walk<gvt>};
    int i = 1;
    for (const auto& nth : walks) {
        if (i + 4 >= argc) break;
        nth(argv + i);
        i += 5;
    }
    return i < argc ? 2 : 0;
}
