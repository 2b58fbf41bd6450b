// SPDX-License-Identifier: Apache-2.0
// QEMU reads its clocks with clock_gettime(), waits for timers and files in ppoll(), and lets the
// threads of halted vCPUs wait with pthread_cond_wait() until pthread_cond_broadcast(). For the
// guest's RDTSC, QEMU executes RDTSC on the host. prctl(PR_SET_TSC) makes RDTSC fault in a thread,
// and the signal handler supplies the modeled counter.
//
// Of clock_gettime() and ppoll(), only the calls from QEMU's own code are changed, and not the
// calls of QEMU's libraries.
#include "jobs/research/timed/plugin/interposed.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <vector>

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

namespace nw::timed {
namespace {

constexpr Picoseconds nanosecond = 1000, second = 1'000'000'000'000;
// A guest's TSC counts modeled nanoseconds. One read takes this time. While the kernel boots, its
// delays read the TSC in a loop: a longer time per read reduces the number of reads.
constexpr Picoseconds tsc_read = 20 * nanosecond, tsc_read_of_boot = 2000 * nanosecond;

enum Function : std::size_t { read_clock, poll_events, wait_halted, wake_halted, read_tsc };
constexpr const char* function_names[] = {"clock_gettime", "ppoll", "pthread_cond_wait",
                                          "pthread_cond_broadcast", "RDTSC"};
std::atomic<bool> is_called[std::size(function_names)];

GuestClock* the_clock = nullptr;  // null: nothing is replaced
// All times that QEMU reads are later than this one, so that its clocks do not go back. In
// nanoseconds: since the boot of the host, picoseconds would exceed 64 bits after 106 days.
std::int64_t begin_ns = 0;
int main_wake = -1;  // an event that ends ppoll() of the main thread
std::atomic<std::uint64_t> last_tsc{0};

// Of this thread.
thread_local unsigned own_vcpu = GuestClock::no_vcpu;
thread_local bool is_idle = false;
thread_local bool is_main = false;

// The code of the program itself.
struct CodeRange {
    std::uintptr_t from = 0, to = 0;
    CodeRange() {
        dl_iterate_phdr(
            [](dl_phdr_info* info, std::size_t, void* range) {
                for (int i = 0; i < info->dlpi_phnum; ++i) {
                    const auto& part = info->dlpi_phdr[i];
                    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
                    auto& code = *static_cast<CodeRange*>(range);
                    code.from = info->dlpi_addr + part.p_vaddr;
                    code.to = code.from + part.p_memsz;
                }
                return 1;  // the first object is the program
            },
            this);
    }
};
bool is_called_by_qemu(const void* return_address) {
    static const CodeRange code;
    const auto at = reinterpret_cast<std::uintptr_t>(return_address);
    return the_clock != nullptr && at >= code.from && at < code.to;
}
void note_call(Function function) {
    if (!is_called[function].load(std::memory_order_relaxed)) is_called[function].store(true);
}

// The C library's function. The version is necessary, because the library also contains an older
// pthread_cond_wait().
template <class F>
F* next(const char* name, const char* version) {
    return reinterpret_cast<F*>(dlvsym(RTLD_NEXT, name, version));
}

// The time for the calling thread, as QEMU reads it.
std::int64_t own_time_ns() {
    const bool is_vcpu = own_vcpu != GuestClock::no_vcpu && !is_idle;
    return begin_ns + (is_vcpu ? the_clock->time_of(own_vcpu) : the_clock->now()) / nanosecond;
}

// The counter of all vCPUs never goes back: otherwise QEMU would add the difference to all later
// values.
std::uint64_t modeled_tsc() {
    const auto current = static_cast<std::uint64_t>(own_time_ns());
    std::uint64_t last = last_tsc.load();
    while (current > last && !last_tsc.compare_exchange_weak(last, current)) {
    }
    return std::max(current, last);
}

void on_segmentation_fault(int, siginfo_t*, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto* code = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
    if (code[0] != 0x0f || code[1] != 0x31) {
        signal(SIGSEGV, SIG_DFL);  // not RDTSC: the instruction faults again, and ends QEMU
        return;
    }
    if (own_vcpu == GuestClock::no_vcpu) {  // a thread that a vCPU's thread has created
        prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
        return;
    }
    note_call(read_tsc);
    the_clock->charge(own_vcpu, the_clock->is_modeling() ? tsc_read : tsc_read_of_boot);
    const std::uint64_t tsc = modeled_tsc();
    registers[REG_RAX] = static_cast<greg_t>(tsc & 0xffff'ffff);
    registers[REG_RDX] = static_cast<greg_t>(tsc >> 32);
    registers[REG_RIP] += 2;
}

// By a system call: a vCPU's thread must not enter the vDSO, which executes RDTSC.
timespec host_clock() {
    timespec time{};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return time;
}

Picoseconds of(const timespec& time) {
    constexpr std::int64_t seconds_max = 1'000'000;
    return time.tv_sec < seconds_max ? time.tv_sec * second + time.tv_nsec * nanosecond : never;
}

}  // namespace

Picoseconds host_time() {
    static const std::int64_t origin = host_clock().tv_sec;
    timespec time = host_clock();
    time.tv_sec -= origin;
    return of(time);
}

void interpose(GuestClock& clock) {
    const timespec now = host_clock();
    begin_ns = now.tv_sec * 1'000'000'000 + now.tv_nsec;
    main_wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    is_main = true;
    struct sigaction action {};
    action.sa_sigaction = on_segmentation_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    the_clock = &clock;
}

void wake_main_thread() { eventfd_write(main_wake, 1); }

void interpose_vcpu(unsigned vcpu) {
    own_vcpu = vcpu;
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

void note_idle(unsigned vcpu, bool now_idle) {
    if (vcpu == own_vcpu) is_idle = now_idle;
}

std::string functions_not_called() {
    std::string names;
    for (std::size_t i = 0; i < std::size(function_names); ++i)
        if (!is_called[i].load())
            names += (names.empty() ? "" : ", ") + std::string(function_names[i]);
    return names;
}

}  // namespace nw::timed

// --- Replaced functions --------------------------------------------------------------------------

extern "C" {

using namespace nw::timed;

[[gnu::visibility("default")]] int clock_gettime(clockid_t clock, timespec* time) {
    if (clock != CLOCK_MONOTONIC || !is_called_by_qemu(__builtin_return_address(0)))
        return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
    note_call(read_clock);
    const std::int64_t current = own_time_ns();
    *time = {current / 1'000'000'000, current % 1'000'000'000};
    return 0;
}

// Only to keep vCPU threads out of the vDSO.
[[gnu::visibility("default")]] int gettimeofday(timeval* time, void* zone) {
    return static_cast<int>(syscall(SYS_gettimeofday, time, zone));
}

[[gnu::visibility("default")]] int ppoll(pollfd* files, nfds_t count, const timespec* timeout,
                                         const sigset_t* mask) {
    static auto* const libc_ppoll =
        next<int(pollfd*, nfds_t, const timespec*, const sigset_t*)>("ppoll", "GLIBC_2.4");
    if (!is_main || !is_called_by_qemu(__builtin_return_address(0)))
        return libc_ppoll(files, count, timeout, mask);
    note_call(poll_events);
    static std::vector<pollfd> all;
    all.assign(files, files + count);
    all.push_back({main_wake, POLLIN, 0});
    // A running guest is slower than the host. The clock wakes this thread at the modeled time; the
    // limit is for timers of the host's time.
    constexpr timespec limit{0, 100'000'000};
    const bool is_zero = timeout != nullptr && of(*timeout) == 0;
    const bool is_idle_guest = the_clock->main_waits(timeout == nullptr ? never : of(*timeout));
    int ready =
        libc_ppoll(all.data(), all.size(), is_idle_guest || is_zero ? timeout : &limit, mask);
    the_clock->main_woke();
    eventfd_t value = 0;
    if (ready > 0 && all.back().revents != 0 && eventfd_read(main_wake, &value) == 0) --ready;
    for (nfds_t i = 0; i < count; ++i) files[i].revents = ready >= 0 ? all[i].revents : short{0};
    return ready;
}

[[gnu::visibility("default")]] int pthread_cond_wait(pthread_cond_t* condition,
                                                     pthread_mutex_t* mutex) {
    static auto* const libc_wait =
        next<int(pthread_cond_t*, pthread_mutex_t*)>("pthread_cond_wait", "GLIBC_2.3.2");
    static auto* const libc_timed_wait =
        next<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)>("pthread_cond_timedwait",
                                                                      "GLIBC_2.3.2");
    if (the_clock == nullptr || !is_idle) return libc_wait(condition, mutex);
    note_call(wait_halted);
    the_clock->halt(own_vcpu, condition);
    int result = 0;
    // If the condition was signaled before this thread waits, the vCPU already counts as running.
    do {
        timespec until{};
        syscall(SYS_clock_gettime, CLOCK_REALTIME, &until);
        until.tv_nsec += 20'000'000;
        if (until.tv_nsec >= 1'000'000'000) ++until.tv_sec, until.tv_nsec -= 1'000'000'000;
        result = libc_timed_wait(condition, mutex, &until);
    } while (result == ETIMEDOUT && the_clock->is_halted(own_vcpu));
    the_clock->resume(own_vcpu);
    return result == ETIMEDOUT ? 0 : result;
}

[[gnu::visibility("default")]] int pthread_cond_broadcast(pthread_cond_t* condition) {
    static auto* const libc_broadcast =
        next<int(pthread_cond_t*)>("pthread_cond_broadcast", "GLIBC_2.3.2");
    if (the_clock != nullptr && the_clock->on_signal(condition, own_vcpu)) note_call(wake_halted);
    return libc_broadcast(condition);
}
}
