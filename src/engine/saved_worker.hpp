// SPDX-License-Identifier: Apache-2.0
// The interfaces through which RunSaver saves the run of an engine. Also the time after which an
// engine stops a run between two events of one virtual time; all engines use it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace nw {

class AddressMap;
class RunHistory;
class SectionWriter;
struct AddressRange;
struct SavedPart;
struct SavedTrack;

// A run stops between two virtual times, so that an interrupted run has committed exactly the
// events before its end time. But a chain of events with zero delay may have no end. Therefore,
// after this time, the run stops even between two events of one virtual time. The limit is a
// quarter of the two seconds that a stop may take.
inline constexpr std::chrono::milliseconds stop_patience(500);

// A worker whose groups are saved. Thread: the worker's thread.
class SavedWorker {
  public:
    using Clock = std::chrono::steady_clock;

    // The stack of the worker's thread. Thread: any.
    virtual AddressRange stack() const noexcept = 0;
    // Called for the first worker of the first rank. From `time` on, this worker requests that all
    // workers pause.
    virtual void save_at(Clock::time_point time) noexcept = 0;
    // Writes the worker's groups. `map` contains the stacks of all workers. Requires: all workers
    // are paused. resume() and end_interrupted() have the same requirement.
    virtual SavedPart save(SectionWriter& file, std::uint32_t file_number,
                           const AddressMap& map) = 0;
    virtual void resume() noexcept = 0;
    virtual void end_interrupted() noexcept = 0;

  protected:
    ~SavedWorker() = default;
};

// The rank of the saved workers. Thread: any worker.
class SavedRank {
  public:
    virtual bool cannot_continue() const noexcept = 0;
    virtual void fail_now() noexcept = 0;  // call it in a catch block
    // The signal for which all workers have paused, or else a signal that this rank has received;
    // 0: none.
    virtual int signal_to_end() const noexcept = 0;
    virtual const RunHistory& history() const noexcept = 0;  // used on the first rank only
    // With --trace: writes the rank's tracks to the file with this path and number. Collective over
    // the ranks. Requires: all workers are paused. Throws MachineError. The default implementation
    // has no tracks and writes no file.
    virtual std::vector<SavedTrack> save_trace(const std::string& path, std::uint32_t file_number);

  protected:
    ~SavedRank() = default;
};

}  // namespace nw
