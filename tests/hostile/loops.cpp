// SPDX-License-Identifier: Apache-2.0
// Handlers that never return.
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kind.hpp"

namespace hostile {
namespace {

void compute(Scene&) {
    for (std::uint64_t i = 0; always();) i = hidden(i + 1);
}

void allocate_and_free(Scene&) {
    while (always()) delete[] hidden(new char[100]);
}

void build_and_drop(Scene&) {
    while (always()) {
        std::map<int, std::string> names;
        for (int i = 0; i < 10; ++i) names[i] = std::string(50, 'n');
        hidden(names.size());
    }
}

void draw(Scene& scene) {
    while (always()) hidden(scene.context().random().bits());
}

void throw_and_catch(Scene&) {
    while (always()) try {
            throw std::runtime_error("again");
        } catch (const std::runtime_error& error) {
            hidden(error.what());
        }
}

void catch_everything(Scene& scene) {
    while (always()) try {
            scene.context().schedule(scene.context().self(), -1, 0);
        } catch (...) {
        }
}

void format(Scene&) {
    char line[100];
    for (int i = 0; always(); ++i) {
        std::snprintf(line, sizeof line, "%d %f", i, 0.5 * i);
        hidden(&line[0]);
    }
}

// Does not print to standard output, because the reader of a pipe may be slow.
void print(Scene&) {
    std::FILE* const sink = std::fopen("/dev/null", "w");
    while (always()) std::fprintf(sink, "line\n");
    std::fclose(sink);
}

void sleep_for_ever(Scene&) {
    while (always()) std::this_thread::sleep_for(std::chrono::hours(1));
}

void pause_for_ever(Scene&) {
    while (always()) ::pause();
}

void yield_for_ever(Scene&) {
    while (always()) ::sched_yield();
}

void lock_twice(Scene&) {
    std::mutex mutex;
    mutex.lock();
    hidden(&mutex);
    mutex.lock();
}

void wait_for_future(Scene&) {
    std::promise<int> promise;
    hidden(promise.get_future().get());
}

void wait_for_condition(Scene&) {
    std::mutex mutex;
    std::condition_variable condition;
    std::unique_lock lock(mutex);
    condition.wait(lock, [] { return !always(); });
}

void wait_for_semaphore(Scene&) {
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    while (always()) sem_wait(&semaphore);
}

void spin(Scene&) {
    std::atomic<bool> flag = true;
    hidden(&flag);
    while (flag.load()) {
    }
}

void read_from_empty_pipe(Scene&) {
    int ends[2];
    char byte = 0;
    if (::pipe(ends) != 0) return;
    while (always()) hidden(::read(ends[0], &byte, 1));
}

void poll_nothing(Scene&) {
    while (always()) ::poll(nullptr, 0, -1);
}

void match_for_ever(Scene&) {
    const std::regex pattern("(x+x+)+y");
    hidden(std::regex_match(std::string(40, 'x'), pattern));
}

struct Node {
    Node* next;
};

void walk_circle(Scene&) {
    Node nodes[3] = {{&nodes[1]}, {&nodes[2]}, {&nodes[0]}};
    for (const Node* node = &nodes[0]; node != nullptr;) node = hidden(node)->next;
}

void search_without_order(Scene&) {
    std::uint64_t low = 0;
    std::uint64_t high = hidden(std::uint64_t{1});
    while (low < high) {
        const std::uint64_t middle = (low + high) / 2;
        low = hidden(middle);
    }
}

constexpr Kind table[] = {
    {"loop", "computes without end", "", compute, dear},
    {"loop-allocate", "allocates and frees without end", "", allocate_and_free, dear},
    {"loop-containers", "builds and destroys containers without end", "", build_and_drop, dear},
    {"loop-draw", "draws random numbers without end", "", draw, dear},
    {"loop-throw", "throws and catches without end", "", throw_and_catch, dear},
    {"loop-broken-rule", "breaks a rule and catches the error without end", "", catch_everything,
     dear},
    {"loop-format", "formats text without end", "", format, dear},
    {"loop-print", "writes to a file without end", "", print, dear},
    {"loop-circle", "walks a cycle of nodes without end", "", walk_circle, dear},
    {"loop-search", "runs a binary search that does not end", "", search_without_order, dear},
    {"loop-sleep", "sleeps without end", "", sleep_for_ever, dear},
    {"loop-pause", "waits for a signal without end", "", pause_for_ever, dear},
    {"loop-yield", "yields the core without end", "", yield_for_ever, dear},
    {"loop-lock", "locks a mutex that it holds", "", lock_twice, dear},
    {"loop-future", "waits for a future that is never set", "", wait_for_future, dear},
    {"loop-condition", "waits for a condition that is never notified", "", wait_for_condition,
     dear},
    {"loop-semaphore", "waits for a semaphore that is never posted", "", wait_for_semaphore, dear},
    {"loop-spin", "spins on a flag that is never cleared", "", spin, dear},
    {"loop-pipe", "reads from a pipe without a writer", "", read_from_empty_pipe, dear},
    {"loop-poll", "polls no descriptors without end", "", poll_nothing, dear},
    {"loop-regex", "matches a catastrophic regular expression", "", match_for_ever, dear},
};

}  // namespace

std::span<const Kind> loops() { return table; }

}  // namespace hostile
