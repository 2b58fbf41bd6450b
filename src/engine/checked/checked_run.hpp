// SPDX-License-Identifier: Apache-2.0
// The checks of --check-model during one run. A CheckedRun logs each committed event with its
// payload, so that the first event that differs between two runs can be named. Before and after
// each handler, it checks the data that no handler may change. Before each handler, it fills the
// stack with known bytes, so that runs with different bytes reveal uninitialized variables that a
// handler reads. app/modelcheck/model_check starts the runs and compares them.
//
// Thread: any for note_committed(). All other functions: the worker of a sequential run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <numawarp/ids.hpp>
#include <numawarp/time.hpp>

#include "api/event_key.hpp"
#include "engine/running_call.hpp"
#include "memory/image/program_variables.hpp"
#include "util/locks.hpp"

namespace nw {

struct Group;
class LpKinds;
struct Snapshot;

// An event in the log. In the log, the event's payload follows this structure.
struct LoggedEvent {
    EventKey key;
    std::uint32_t target;
    EventType type;
    std::uint16_t payload_bytes;
};

// A forbidden action of a handler, in words. `rule` is a heading of docs/how-to/check-model.md.
struct Breach {
    std::string rule;
    std::string words;
};

class CheckedRun {
  public:
    struct Wanted {
        bool watches = false;           // check data around handlers
        int fill = -1;                  // byte that fills the stack below a handler; negative: none
        std::uint64_t events_most = 0;  // the run ends after this many events; 0: no limit
        double seconds_most = 0;        // the run ends after this time; 0: no limit
        // The variables of main(). The model's object, at `model`, is one of them.
        std::span<std::byte> main_variables{};
        const void* model = nullptr;
    };
    explicit CheckedRun(const Wanted& wanted) : wanted_(wanted) {}
    CheckedRun(const CheckedRun&) = delete;
    CheckedRun& operator=(const CheckedRun&) = delete;

    void note_committed(const EventRecord& event);

    // --- In a sequential run ---

    // Called before the first LP is built, and after the last LP is built.
    void before_building();
    void after_building();
    // Called before and after each on_start() and on_event(). After on_event(), the engine first
    // handles the event's sends and updates the LP's digest, and then calls after_call().
    void before_call(const RunningCall& call, const LpKinds& kinds);
    void after_call(const RunningCall& call, Group& group, const LpKinds& kinds);
    // Whether the run has reached the limit of events or the limit of seconds.
    bool is_enough(std::uint64_t executed_events) const noexcept;
    // Called before the first LP is destroyed. Frees the snapshots.
    void end();

    // --- Afterwards ---

    const std::vector<std::byte>& log() const noexcept { return log_; }
    const std::vector<Breach>& breaches() const noexcept { return breaches_; }
    // The reason why variables of the program could not be checked. Empty: they were checked, or
    // the check was not requested.
    std::string why_not_watched() const;

  private:
    struct Image {
        Snapshot* snapshot = nullptr;  // of the LP after its last handler
        Group* group = nullptr;
    };
    // Called after a call has returned. Reports the variables that the call has changed. `call` is
    // the beginning of the message.
    void find_changed_variables(const std::string& call);
    void find_foreign_writes(const RunningCall& call, const LpKinds& kinds);
    void find_kept_results(const RunningCall& call, const LpKinds& kinds);
    bool looks_now() const noexcept { return calls_ % stride_ == 0; }

    const Wanted wanted_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    Mutex mutex_;
    std::vector<std::byte> log_ NW_GUARDED_BY(mutex_);
    std::optional<ProgramVariables> variables_;
    std::vector<Image> images_;  // by LP
    std::vector<Breach> breaches_;
    bool has_foreign_write_ = false;  // only the first is reported
    bool has_kept_result_ = false;    // only the first is reported
    std::uint64_t calls_ = 0;
    std::uint64_t stride_ = 1;  // one of stride_ calls is checked for changed variables
};

}  // namespace nw
