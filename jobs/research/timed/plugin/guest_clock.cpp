// SPDX-License-Identifier: Apache-2.0
#include "jobs/research/timed/plugin/guest_clock.hpp"

#include <algorithm>
#include <utility>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace nw::timed {

namespace {

// System calls, because a vCPU's thread must not enter the vDSO (interposed.cpp).
void wait_for_change(std::atomic<std::uint32_t>& word, std::uint32_t seen,
                     std::chrono::nanoseconds longest) {
    constexpr std::int64_t second = 1'000'000'000;
    const timespec timeout{longest.count() / second, longest.count() % second};
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &timeout, nullptr, 0);
}
void wake(std::atomic<std::uint32_t>& word) {
    word.fetch_add(1);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace

GuestClock::GuestClock(unsigned vcpus, Picoseconds skew, Host host,
                       std::chrono::nanoseconds patience)
    : skew_(skew),
      host_(std::move(host)),
      patience_(patience),
      real_idle_begin_(host_.real_time()) {
    for (unsigned i = 0; i < vcpus; ++i) vcpus_.push_back(std::make_unique<Vcpu>());
}

// --- vCPUs ---------------------------------------------------------------------------------------

void GuestClock::attach(unsigned number, volatile std::int64_t* used) {
    const std::lock_guard lock(mutex_);
    vcpus_[number]->used = used;
    run(*vcpus_[number], 0);
}

void GuestClock::on_allowance_used(unsigned number) {
    Vcpu& vcpu = *vcpus_[number];
    ++vcpu.statistics.allowances;
    for (const bool may_wait : {true, false}) {
        std::unique_lock lock(mutex_);
        wake_main_if_due();
        const Picoseconds allowed = allowance(vcpu);
        const bool is_kicked = std::exchange(vcpu.is_kicked, false);
        vcpu.is_waiting = allowed == 0 && !is_kicked && may_wait;
        give(vcpu, allowed);
        wake_those_that_may_continue();
        if (allowed > 0) return;
        if (!vcpu.is_waiting) break;
        const std::uint32_t seen = vcpu.wakes.load();
        lock.unlock();
        wait_for_change(vcpu.wakes, seen, patience_);
    }
    ++vcpu.statistics.overruns;
}

void GuestClock::halt(unsigned number, const void* condition) {
    const std::lock_guard lock(mutex_);
    vcpus_[number]->condition = condition;
    stop(*vcpus_[number]);
}

bool GuestClock::is_halted(unsigned number) {
    const std::lock_guard lock(mutex_);
    return !vcpus_[number]->is_running;
}

void GuestClock::resume(unsigned number) {
    const std::lock_guard lock(mutex_);
    run(*vcpus_[number], 0);
}

bool GuestClock::on_signal(const void* condition, unsigned waker) {
    for (const auto& vcpu : vcpus_) {
        if (vcpu->condition.load() != condition) continue;
        const std::lock_guard lock(mutex_);
        if (!vcpu->is_running) {
            run(*vcpu, waker == no_vcpu ? 0 : vcpus_[waker]->time());
            return true;
        }
        vcpu->is_kicked = true;
        if (std::exchange(vcpu->is_waiting, false)) wake(vcpu->wakes);
    }
    return false;
}

// --- Threads that are no vCPU --------------------------------------------------------------------

Picoseconds GuestClock::now() {
    const std::lock_guard lock(mutex_);
    return now_locked();
}

bool GuestClock::main_waits(Picoseconds timeout) {
    const std::lock_guard lock(mutex_);
    const Picoseconds begin = now_locked();
    main_bound_ = timeout == never ? never : begin + timeout;
    main_is_waiting_ = true;
    wake_those_that_may_continue();
    if (slowest() != never) return false;
    idle_begin_ = begin;
    real_idle_begin_ = host_.real_time();
    return true;
}

void GuestClock::main_woke() {
    const std::lock_guard lock(mutex_);
    main_bound_ = now_locked();
    main_is_waiting_ = false;
}

// --- Requires: mutex_ is locked ------------------------------------------------------------------

Picoseconds GuestClock::slowest(const Vcpu* except) const {
    Picoseconds least = never;
    for (const auto& vcpu : vcpus_)
        if (vcpu.get() != except && vcpu->is_running) least = std::min(least, vcpu->time());
    return least;
}

Picoseconds GuestClock::now_locked() {
    const Picoseconds running = slowest();
    const Picoseconds current =
        running != never
            ? running
            : std::min(main_bound_, idle_begin_ + (host_.real_time() - real_idle_begin_));
    return now_ = std::max(now_, current);
}

void GuestClock::run(Vcpu& vcpu, Picoseconds at) {
    if (vcpu.is_running) return;
    const Picoseconds begin = std::max({vcpu.time(), at, now_locked()});
    // Without an allowance: otherwise the vCPU could execute the rest of its last one at once.
    *vcpu.used = static_cast<std::int64_t>(allowance_used);
    vcpu.base = begin - *vcpu.used;
    vcpu.is_running = true;
}

void GuestClock::stop(Vcpu& vcpu) {
    if (!vcpu.is_running) return;
    vcpu.is_running = false;
    if (slowest() == never) {
        idle_begin_ = std::max(now_, vcpu.time());
        real_idle_begin_ = host_.real_time();
        // The main thread must wait by the host's clock now.
        if (main_is_waiting_) host_.wake_main();
    }
    wake_main_if_due();
    wake_those_that_may_continue();
}

void GuestClock::wake_main_if_due() {
    if (!main_is_waiting_ || slowest() == never || now_locked() < main_bound_) return;
    main_is_waiting_ = false;
    host_.wake_main();
}

void GuestClock::wake_those_that_may_continue() {
    for (const auto& vcpu : vcpus_) {
        if (!vcpu->is_waiting || allowance(*vcpu) == 0) continue;
        vcpu->is_waiting = false;
        wake(vcpu->wakes);
    }
}

Picoseconds GuestClock::allowance(const Vcpu& vcpu) const {
    const Picoseconds bound = std::min(slowest(&vcpu), main_bound_) + skew();
    return std::clamp<Picoseconds>(bound - vcpu.time(), 0, skew());
}

void GuestClock::give(Vcpu& vcpu, Picoseconds allowance) {
    const Picoseconds time = vcpu.time();
    *vcpu.used = static_cast<std::int64_t>(allowance_used) - allowance;
    vcpu.base = time - *vcpu.used;
}

}  // namespace nw::timed
