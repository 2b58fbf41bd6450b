// SPDX-License-Identifier: Apache-2.0
// An LP of a ROOT-Sim model as a LogicalProcess. The model's functions are C functions without a
// Context parameter. The model calls functions of ROOT-Sim's interface. These functions find the
// Context in `running_call`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <numawarp/model.hpp>

namespace nw::rootsim {

// The state of a generator of random numbers.
using Generator = std::array<std::uint64_t, 4>;

// The model's functions, and the conventions of its version of ROOT-Sim.
struct Interface {
    void (*process_event)(std::uint64_t lp, double now, unsigned type, const void* content,
                          unsigned bytes, void* state);
    bool (*can_end)(std::uint64_t lp, const void* state);
    unsigned begin;               // type of an LP's first event
    std::optional<unsigned> end;  // type of the event at the end of the run, if there is one
    Generator (*first_generator)(std::uint64_t lp, std::uint64_t seed);
    std::uint64_t lps;
};

// The interface of the program's only model. setup_of() sets it. It is global because each event
// reads it.
extern constinit Interface model;

// Types of events have 32 bits in ROOT-Sim and 16 bits in numawarp. The types from first_own_type
// on are reserved for this interface. An event whose ROOT-Sim type is first_own_type or larger has
// the type wide_type in numawarp, and its ROOT-Sim type is stored after its content.
inline constexpr EventType first_own_type = UINT16_MAX - 7;
inline constexpr EventType wide_type = UINT16_MAX;

class Lp : public LogicalProcess {
  public:
    Lp(LpId self, std::uint64_t seed);

    void on_start(Context& context) override;
    void on_event(Context& context, const Event& event) override;
    void on_end(Context& context) override;
    bool can_end() const override;

    void* state = nullptr;
    Generator generator;  // of ROOT-Sim's random numbers

    std::uint32_t self() const noexcept { return static_cast<std::uint32_t>(self_); }
    // True when the event at the end of the run has begun. Events that the model schedules after
    // this moment are dropped.
    bool is_over() const noexcept { return is_over_; }

  protected:
    // Call the model's function. Require: an InCall exists.
    void begin() { process(0, model.begin, {}); }
    void process(const Event& event);
    void process(VirtualTime now, unsigned type, std::span<const std::byte> content) {
        model.process_event(self_, now, type, content.data(), static_cast<unsigned>(content.size()),
                            state);
    }

  private:
    std::uint64_t self_;
    bool is_over_ = false;
};

// Sets `model` and returns its Setup. Events may have the largest payload, because models for
// ROOT-Sim declare no limit. Requires: the number of LPs fits into 32 bits.
Setup setup_of(const Interface& of, std::uint64_t seed);

// --- For functions that the model calls ----------------------------------------------------------

struct Call {
    Lp* lp;            // null: no function of the model is running
    Context* context;  // null: the running function may not schedule
};

// The call of a function of the model on this thread.
extern constinit thread_local Call running_call;

// Sets running_call while a function of the model runs. The destructor resets it, also after an
// exception. After a crash, no destructor runs: the next InCall or the end of the run overwrites
// running_call.
class InCall {
  public:
    explicit InCall(const Call& call) noexcept { running_call = call; }
    ~InCall() { running_call = {}; }
    InCall(const InCall&) = delete;
    InCall& operator=(const InCall&) = delete;
};

// If a function of the model is running, throws ModelError with `line` as its message. Elsewhere,
// prints the line and ends the program.
[[noreturn, gnu::cold]] void refuse_call(const std::string& line);
[[noreturn, gnu::cold]] void called_outside(const char* function);

// The LP whose function is running. Calls called_outside(function) if no function of the model is
// running.
inline Lp& current_lp(const char* function) {
    Lp* const lp = running_call.lp;
    if (lp == nullptr) [[unlikely]]
        called_outside(function);
    return *lp;
}

// The Context of the running handler. Calls called_outside(function) if no handler is running.
inline Context& current_context(const char* function) {
    Context* const context = running_call.context;
    if (context == nullptr) [[unlikely]]
        called_outside(function);
    return *context;
}

// Implements SetState(). Throws ModelError if the state is a variable of the program, which a
// rollback does not restore.
void set_state(Lp& lp, void* state);

// The rare cases of schedule(). schedule_nothing(): no handler is running, or no LP has the number
// `receiver`. schedule_wide(): the type is first_own_type or larger.
[[gnu::cold]] void schedule_nothing(std::uint64_t receiver, VirtualTime time);
[[gnu::cold]] void schedule_wide(LpId target, VirtualTime time, std::uint32_t type,
                                 std::span<const std::byte> content);

// Implements ScheduleNewEvent(). Throws ModelError.
inline void schedule(std::uint64_t receiver, VirtualTime time, std::uint32_t type,
                     const void* content, std::size_t bytes) {
    Context* const context = running_call.context;
    if (context == nullptr || receiver >= model.lps) [[unlikely]]
        return schedule_nothing(receiver, time);
    const LpId target{static_cast<std::uint32_t>(receiver)};
    const std::span payload(static_cast<const std::byte*>(content), bytes);
    if (type >= first_own_type) [[unlikely]]
        return schedule_wide(target, time, type, payload);
    context->schedule_bytes_at(target, time, static_cast<EventType>(type), payload);
}

}  // namespace nw::rootsim
