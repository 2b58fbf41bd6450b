// SPDX-License-Identifier: Apache-2.0
// Locks, with the annotations of Clang's thread safety analysis
// (https://clang.llvm.org/docs/ThreadSafetyAnalysis.html). A member that is declared with
// NW_GUARDED_BY(mutex_) may be used only while the thread holds the lock; a build with Clang
// reports every other use. Other compilers ignore the annotations.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#if defined(__clang__)
#define NW_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define NW_THREAD_SAFETY(attribute)
#endif
#define NW_CAPABILITY(name) NW_THREAD_SAFETY(capability(name))
#define NW_SCOPED_CAPABILITY NW_THREAD_SAFETY(scoped_lockable)
// The member is used only under the lock.
#define NW_GUARDED_BY(lock) NW_THREAD_SAFETY(guarded_by(lock))
// Annotations of functions. REQUIRES: the caller holds the lock. ACQUIRE: the function takes the
// lock. RELEASE: the function releases the lock. TRY_ACQUIRE(value): the function has taken the
// lock if it returns this value.
#define NW_REQUIRES(...) NW_THREAD_SAFETY(requires_capability(__VA_ARGS__))
#define NW_ACQUIRE(...) NW_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define NW_RELEASE(...) NW_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define NW_TRY_ACQUIRE(...) NW_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))

namespace nw {

inline void spin_pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// A lock for critical sections of some dozens of instructions. It takes one byte, because there may
// be 100,000 groups with several locks each. A running thread holds the lock for at most about 3
// µs, including a page fault. A thread that waits longer yields its core: if there are more threads
// than cores, the holder of the lock may be waiting for this core. Without the yield, the holder
// would wait for milliseconds.
class NW_CAPABILITY("spin lock") SpinLock {
  public:
    void lock() noexcept NW_ACQUIRE() {
        while (!try_lock()) wait();
    }
    // The acquire pairs with the release in unlock().
    bool try_lock() noexcept NW_TRY_ACQUIRE(true) {
        return !locked_.exchange(true, std::memory_order_acquire);
    }
    void unlock() noexcept NW_RELEASE() { locked_.store(false, std::memory_order_release); }

  private:
    void wait() const noexcept {
        constexpr int spins_max = 1000;  // 3 to 45 µs: a pause takes 3 to 45 ns
        for (int spins = 0; locked_.load(std::memory_order_relaxed); ++spins) {
            if (spins < spins_max)
                spin_pause();
            else
                std::this_thread::yield();
        }
    }

    std::atomic<bool> locked_{false};
};

class NW_CAPABILITY("mutex") Mutex {
  public:
    void lock() NW_ACQUIRE() { mutex_.lock(); }
    void unlock() NW_RELEASE() { mutex_.unlock(); }

  private:
    std::mutex mutex_;
};

// Holds a lock until the end of its scope. lock() and unlock() are for std::condition_variable_any,
// and for code in the scope that must not hold the lock.
template <class Lock>
class NW_SCOPED_CAPABILITY LockGuard {
  public:
    explicit LockGuard(Lock& lock) NW_ACQUIRE(lock) : lock_(lock) { lock.lock(); }
    // Requires: the calling thread holds the lock, for example after try_lock().
    LockGuard(Lock& lock, std::adopt_lock_t) NW_REQUIRES(lock) : lock_(lock) {}
    ~LockGuard() NW_RELEASE() { lock_.unlock(); }
    LockGuard(const LockGuard&) = delete;
    LockGuard& operator=(const LockGuard&) = delete;

    void lock() NW_ACQUIRE() { lock_.lock(); }
    void unlock() NW_RELEASE() { lock_.unlock(); }

  private:
    Lock& lock_;
};

}  // namespace nw
