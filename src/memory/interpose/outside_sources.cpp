// SPDX-License-Identifier: Apache-2.0
// Clocks, the process id and true randomness. These functions behave as in libc, and the engine
// records that a handler has called them (memory/handler/outside_sources.hpp).
#include <stdlib.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <random>

#include "memory/handler/outside_sources.hpp"
#include "memory/interpose/original.hpp"
#include "memory/interpose/refuse.hpp"

namespace {

using nw::OutsideSource;
using nw::interpose::original_of;

constinit auto original_time = original_of(&::time, "time");
constinit auto original_clock = original_of(&::clock, "clock");
constinit auto original_clock_gettime = original_of(&::clock_gettime, "clock_gettime");
constinit nw::interpose::Original<int, timeval*, void*> original_gettimeofday("gettimeofday");
constinit auto original_getpid = original_of(&::getpid, "getpid");
constinit auto original_getrandom = original_of(&::getrandom, "getrandom");
constinit auto original_getentropy = original_of(&::getentropy, "getentropy");
constinit auto original_timespec_get = original_of(&::timespec_get, "timespec_get");
constinit auto original_times = original_of(&::times, "times");
#if __GLIBC_PREREQ(2, 36)
constinit auto original_arc4random = original_of(&::arc4random, "arc4random");
constinit auto original_arc4random_buf = original_of(&::arc4random_buf, "arc4random_buf");
constinit auto original_arc4random_uniform =
    original_of(&::arc4random_uniform, "arc4random_uniform");
#endif
constinit nw::interpose::Original<unsigned, std::random_device*> original_random_device(
    "_ZNSt13random_device9_M_getvalEv");

void note(OutsideSource source, const char* function) noexcept {
    if (nw::interpose::may_be_undone()) nw::note_outside_source(source, function);
}

// The shift of the clock for the caller, in seconds.
std::int64_t clock_shift(const char* function) noexcept {
    if (!nw::interpose::may_be_undone()) return 0;
    nw::note_outside_source(OutsideSource::clock, function);
    return nw::clock_shift_seconds;
}

}  // namespace

extern "C" {

time_t time(time_t* to) {
    const time_t now = original_time(nullptr) + clock_shift("time");
    if (to != nullptr) *to = now;
    return now;
}

clock_t clock() { return original_clock() + clock_shift("clock") * CLOCKS_PER_SEC; }

int clock_gettime(clockid_t clock, timespec* to) {
    const int result = original_clock_gettime(clock, to);
    if (result == 0) to->tv_sec += clock_shift("clock_gettime");
    return result;
}

int gettimeofday(timeval* to, void* zone) {
    const int result = original_gettimeofday(to, zone);
    if (result == 0) to->tv_sec += clock_shift("gettimeofday");
    return result;
}

int timespec_get(timespec* to, int base) {
    const int result = original_timespec_get(to, base);
    if (result != 0) to->tv_sec += clock_shift("timespec_get");
    return result;
}

[[gnu::weak]] clock_t times(tms* to) {
    note(OutsideSource::clock, "times");
    return original_times(to);
}

pid_t getpid() {
    note(OutsideSource::process_id, "getpid");
    return original_getpid();
}

ssize_t getrandom(void* to, size_t bytes, unsigned flags) {
    note(OutsideSource::entropy, "getrandom");
    return original_getrandom(to, bytes, flags);
}

int getentropy(void* to, size_t bytes) {
    note(OutsideSource::entropy, "getentropy");
    return original_getentropy(to, bytes);
}

#if __GLIBC_PREREQ(2, 36)
uint32_t arc4random() {
    note(OutsideSource::entropy, "arc4random");
    return original_arc4random();
}

void arc4random_buf(void* to, size_t bytes) {
    note(OutsideSource::entropy, "arc4random_buf");
    original_arc4random_buf(to, bytes);
}

uint32_t arc4random_uniform(uint32_t bound) {
    note(OutsideSource::entropy, "arc4random_uniform");
    return original_arc4random_uniform(bound);
}
#endif

}  // extern "C"

namespace std {

random_device::result_type random_device::_M_getval() {
    note(OutsideSource::entropy, "std::random_device");
    return original_random_device(this);
}

}  // namespace std
