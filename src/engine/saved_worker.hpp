// The interface through which run_saver.hpp saves the runs of an engine, and a rule for all engines that stop a run.
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

// A run stops between two virtual times, so that an interrupted run has committed exactly the events before its end
// time. A chain of zero delays may have no end: after this time the run stops amid the events of one virtual time. A
// quarter of the two seconds that a stop may take.
inline constexpr std::chrono::milliseconds stop_patience(500);

// A worker whose groups are saved. Thread: its own.
class SavedWorker {
  public:
    using Clock = std::chrono::steady_clock;

    virtual AddressRange stack() const noexcept = 0;  // of its thread; read by others
    // The first worker of the first rank asks for all to stand still: from then on.
    virtual void save_at(Clock::time_point time) noexcept = 0;
    // Requires, like what follows: all stand still. Writes the worker's groups. `map`: with the stacks of all
    // workers.
    virtual SavedPart save(SectionWriter& file, std::uint32_t file_number,
                           const AddressMap& map) = 0;
    virtual void resume() noexcept = 0;
    virtual void end_interrupted() noexcept = 0;

  protected:
    ~SavedWorker() = default;
};

// The rank that it is a worker of. Thread: any worker.
class SavedRank {
  public:
    virtual bool cannot_go_on() const noexcept = 0;
    virtual void fail_now() noexcept = 0;  // in a catch block
    // The signal for which all stand still, or else one that has come to this rank; 0: none.
    virtual int signal_to_end() const noexcept = 0;
    virtual const RunHistory& history() const noexcept = 0;  // the first rank's
    // With --trace: writes the rank's tracks to a file of that name and number. Collective over the ranks;
    // requires that all stand still. Throws MachineError. As it is here: there are none.
    virtual std::vector<SavedTrack> save_trace(const std::string& path, std::uint32_t file_number);

  protected:
    ~SavedRank() = default;
};

}  // namespace nw
