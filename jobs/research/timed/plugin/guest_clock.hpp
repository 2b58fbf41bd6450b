// SPDX-License-Identifier: Apache-2.0
// The clock of a guest with several vCPUs, whose time is modeled.
//
// Each vCPU has its own time: translated code and the cost model add the modeled duration of what
// the vCPU executes. The clock keeps these times together:
//
//   skew          A vCPU that is `skew` ahead of the slowest running vCPU waits. If QEMU kicks a
//                 waiting vCPU, the vCPU executes one more block, because another thread of QEMU
//                 needs the vCPU to leave the code. The vCPU also executes one more block if it has
//                 waited for `patience` of the host's time, because QEMU's kicks are not known
//                 before the first halt of the vCPU.
//   timers        No vCPU passes the time of QEMU's next timer by more than `skew` before QEMU's
//                 main thread has served this timer.
//   halted vCPUs  A halted vCPU has no part in the minimum. On a wake-up, the vCPU gets the time of
//                 the waking thread. The delay until the host schedules the vCPU's thread does not
//                 count.
//   idle guest    While all vCPUs are halted, the clock follows the host's clock, because disks and
//                 the network of the guest work in the host's time. The clock stops at the next
//                 timer until the main thread has served this timer.
//
// Before start_model(), the guest boots with a skew of a millisecond.
//
// The clock calls nothing of QEMU. Only on_allowance_used() waits.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "jobs/research/timed/plugin/ledger.hpp"

namespace nw::timed {

inline constexpr Picoseconds never = INT64_MAX / 2;

class GuestClock {
  public:
    // Functions that the clock calls.
    struct Host {
        std::function<Picoseconds()> real_time;  // of a clock that never goes back
        std::function<void()> wake_main;         // ends the wait of QEMU's main thread
    };
    struct Statistics {
        std::uint64_t allowances = 0;  // requested
        std::uint64_t overruns = 0;    // blocks that were executed although the vCPU had to wait
    };

    GuestClock(unsigned vcpus, Picoseconds skew, Host host,
               std::chrono::nanoseconds patience = std::chrono::milliseconds(5));

    // --- vCPUs. Thread: of the vCPU, unless stated otherwise ---

    // `used`: the word to which translated code adds the picoseconds that it takes. If the word is
    // at least `allowance_used`, on_allowance_used() must be called before the next block.
    static constexpr std::uint64_t allowance_used = 1'000'000'000'000;
    void attach(unsigned vcpu, volatile std::int64_t* used);
    void charge(unsigned vcpu, Picoseconds time) {
        volatile std::int64_t& used = *vcpus_[vcpu]->used;
        used = used + time;
    }
    // Thread: any. While the vCPU of another thread gets an allowance, the value may be wrong by
    // the skew.
    Picoseconds time_of(unsigned vcpu) const { return vcpus_[vcpu]->time(); }
    // Waits until the vCPU may continue, is kicked, or has waited for the patience. Gives it a new
    // allowance, which is empty in the last two cases.
    void on_allowance_used(unsigned vcpu);
    // The vCPU halts, until `condition` is signaled. QEMU signals the same condition when it kicks
    // the running vCPU.
    void halt(unsigned vcpu, const void* condition);
    bool is_halted(unsigned vcpu);
    void resume(unsigned vcpu);
    // A condition is signaled at the time of `waker`, which is a vCPU or `no_vcpu`. Returns whether
    // a halted vCPU continues. Thread: any.
    static constexpr unsigned no_vcpu = ~0u;
    bool on_signal(const void* condition, unsigned waker);

    // --- Threads that are no vCPU ---

    // The time for devices and timers: of the slowest running vCPU. Never goes back.
    Picoseconds now();
    // QEMU's main thread begins to wait for events, until `timeout` has passed (`never`: without a
    // limit). Returns whether the host's clock must end this wait: the guest is idle. Otherwise
    // Host::wake_main() ends the wait.
    bool main_waits(Picoseconds timeout);
    void main_woke();

    // From now on the skew is the one of the constructor.
    void start_model() { is_modeling_.store(true); }
    bool is_modeling() const { return is_modeling_.load(std::memory_order_relaxed); }

    // Thread: any; the values may be from different times.
    const Statistics& statistics(unsigned vcpu) const { return vcpus_[vcpu]->statistics; }

  private:
    // Two vCPUs share no cache line.
    struct alignas(64) Vcpu {
        volatile std::int64_t* used = nullptr;
        std::atomic<Picoseconds> base{0};  // time = base + *used
        std::atomic<std::uint32_t> wakes{0};
        std::atomic<const void*> condition{nullptr};  // of the last halt
        bool is_running = false;
        bool is_waiting = false;
        bool is_kicked = false;  // since the last call of on_allowance_used()
        Statistics statistics;

        Picoseconds time() const {
            return base.load(std::memory_order_relaxed) + (used == nullptr ? 0 : *used);
        }
    };

    static constexpr Picoseconds skew_of_boot = 1'000'000'000;  // a millisecond

    Picoseconds skew() const { return is_modeling() ? skew_ : skew_of_boot; }
    Picoseconds slowest(const Vcpu* except = nullptr) const;
    Picoseconds now_locked();
    void run(Vcpu& vcpu, Picoseconds at);
    void stop(Vcpu& vcpu);
    void wake_main_if_due();
    void wake_those_that_may_continue();
    // How far the vCPU may execute from now on; 0: it must wait.
    Picoseconds allowance(const Vcpu& vcpu) const;
    static void give(Vcpu& vcpu, Picoseconds allowance);

    const Picoseconds skew_;
    const Host host_;
    const std::chrono::nanoseconds patience_;
    std::vector<std::unique_ptr<Vcpu>> vcpus_;
    std::atomic<bool> is_modeling_{false};

    // Protects all members below, and the members of Vcpu that are not atomic. Translated code adds
    // to *used without the mutex.
    std::mutex mutex_;
    Picoseconds now_ = 0;
    // The bound from the main thread: its next timer; while it serves events, the time of its wake.
    Picoseconds main_bound_ = never;
    bool main_is_waiting_ = false;
    // While all vCPUs are halted, the time is idle_begin_ + the host's time since real_idle_begin_.
    Picoseconds idle_begin_ = 0;
    Picoseconds real_idle_begin_;
};

}  // namespace nw::timed
