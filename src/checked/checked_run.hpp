// What one of the runs of --check-model does besides running: it logs each committed event with its payload,
// so that the first one that differs between two runs can be named; it looks, around each handler, at what no
// handler may change; and it leaves known bytes where a handler may forget to write. Who starts the runs and
// compares them is modelcheck/model_check.
//
// Thread: any for note_committed(); all else in the worker of a sequential run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <numawarp/ids.hpp>
#include <numawarp/time.hpp>

#include "engine/running_call.hpp"
#include "event/event_key.hpp"
#include "numa/image/program_variables.hpp"

namespace nw {

struct Group;
class LpKinds;
struct Snapshot;

// In the order of a log: the event, then its payload.
struct LoggedEvent {
    EventKey key;
    std::uint32_t target;
    EventType type;
    std::uint16_t payload_bytes;
};

// What a handler did that it may not, in words; `rule` is a heading of docs/how-to/check-model.md.
struct Breach {
    std::string rule;
    std::string words;
};

class CheckedRun {
  public:
    struct Wanted {
        bool watches = false;           // look around handlers
        int fill = -1;                  // what the stack below a handler holds; below 0: anything
        std::uint64_t events_most = 0;  // then the run ends; 0: at its own end
        double seconds_most = 0;
        // main()'s variables, of which the model's object is one, at `model`.
        std::span<std::byte> main_variables{};
        const void* model = nullptr;
    };
    explicit CheckedRun(const Wanted& wanted) : wanted_(wanted) {}
    CheckedRun(const CheckedRun&) = delete;
    CheckedRun& operator=(const CheckedRun&) = delete;

    void note_committed(const EventRecord& event);

    // --- In a sequential run ---

    // Before the first LP is built, and when all are.
    void before_building();
    void after_building();
    // Around on_start(), and on_event() with what follows it.
    void before_call(const RunningCall& call, const LpKinds& kinds);
    void after_call(const RunningCall& call, Group& group, const LpKinds& kinds);
    // Whether that is all that was asked for.
    bool is_enough(std::uint64_t executed_events) const noexcept;
    // Before the first LP is destroyed.
    void end();

    // --- Afterwards ---

    const std::vector<std::byte>& log() const noexcept { return log_; }
    const std::vector<Breach>& breaches() const noexcept { return breaches_; }
    // Empty, or why variables of the program could not be looked at.
    std::string why_not_watched() const;

  private:
    struct Image {
        Snapshot* snapshot = nullptr;  // of the LP after its last handler
        Group* group = nullptr;
    };
    // By a call that has returned.
    void find_changed_variables(const std::string& call);
    void find_foreign_writes(const RunningCall& call, const LpKinds& kinds);
    void find_kept_results(const RunningCall& call, const LpKinds& kinds);
    bool looks_now() const noexcept { return calls_ % stride_ == 0; }

    const Wanted wanted_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::mutex mutex_;  // of the log
    std::vector<std::byte> log_;
    std::optional<ProgramVariables> variables_;
    std::vector<Image> images_;  // by LP
    std::vector<Breach> breaches_;
    bool has_foreign_write_ = false;  // the first is said
    bool has_kept_result_ = false;    // the first is reported
    std::uint64_t calls_ = 0;
    std::uint64_t stride_ = 1;  // of calls between two looks at variables
};

}  // namespace nw
