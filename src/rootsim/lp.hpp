// A ROOT-Sim model's LP as one of ours. Its functions are C and know nothing of a Context: what they call
// finds that of their thread's handler here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <numawarp/model.hpp>

namespace nw::rootsim {

// The state of a generator of random numbers.
using Generator = std::array<std::uint64_t, 4>;

// What the model has, and how this version of ROOT-Sim speaks to it.
struct Functions {
    void (*process_event)(std::uint64_t lp, double now, unsigned type, const void* content,
                          unsigned bytes, void* state);
    bool (*can_end)(std::uint64_t lp, const void* state);
    unsigned begin;               // the type of what an LP is told first
    std::optional<unsigned> end;  // and of what it is told when the run is over
    Generator (*first_generator)(std::uint64_t lp, std::uint64_t seed);
};

// Events have types of 32 bits there and of 16 here. Those of these types are the door's own: the last is that of
// events whose type is one of these or larger, and follows their content.
inline constexpr EventType first_own_type = UINT16_MAX - 7;
inline constexpr EventType wide_type = UINT16_MAX;

class Lp : public LogicalProcess {
  public:
    // `functions` outlive it.
    Lp(LpId self, const Functions* functions, std::uint64_t seed);

    void on_start(Context& context) override;
    void on_event(Context& context, const Event& event) override;
    void on_end(Context& context) override;
    bool can_end() const override;

    void* state = nullptr;
    Generator generator;  // of ROOT-Sim's random numbers

    std::uint32_t self() const noexcept { return self_; }

  protected:
    // Call the model's function. Require: InCall.
    void begin() { process(0, functions_.begin, {}); }
    void process(const Event& event);
    void process(VirtualTime now, unsigned type, std::span<const std::byte> content) {
        functions_.process_event(self_, now, type, content.data(),
                                 static_cast<unsigned>(content.size()), state);
    }

  private:
    const Functions& functions_;
    std::uint32_t self_;
};

// A Setup with so many of them, for a model that declares no bound of its events' sizes. `functions` outlive
// the run. Requires: lps fits.
Setup setup_of(std::uint64_t lps, const Functions* functions, std::uint64_t seed);

// --- What a model's function calls -----------------------------------------------------------------

struct Call {
    Lp* lp;                   // null: none of the model's functions is running
    Context* context;         // null: it is no handler
    std::uint64_t receivers;  // LPs that events may be for; 0: the run is over, they are dropped
};

// Of this thread.
extern constinit thread_local Call running_call;

// Around a function of the model's. Also left by an exception; by a crash it is not, and then the next one
// overwrites it.
class InCall {
  public:
    explicit InCall(const Call& call) noexcept { running_call = call; }
    ~InCall() { running_call.lp = nullptr; }
    InCall(const InCall&) = delete;
    InCall& operator=(const InCall&) = delete;
};

// Ends the program with one line.
[[noreturn, gnu::cold]] void called_outside(const char* function);

// Ends the program if none of the model's functions is running: `function` is to be called in one.
inline Lp& current_lp(const char* function) {
    if (running_call.lp == nullptr) [[unlikely]]
        called_outside(function);
    return *running_call.lp;
}

// The same of a handler.
inline Context& current_context(const char* function) {
    if (running_call.lp == nullptr || running_call.context == nullptr) [[unlikely]]
        called_outside(function);
    return *running_call.context;
}

inline bool is_in_handler() noexcept { return running_call.lp != nullptr; }

// What schedule() does seldom.
[[gnu::cold]] void schedule_nothing(std::uint64_t receiver, VirtualTime time);
[[gnu::cold]] void schedule_wide(LpId target, VirtualTime time, std::uint32_t type,
                                 std::span<const std::byte> content);

// As ScheduleNewEvent(). Throws ModelError.
inline void schedule(std::uint64_t receiver, VirtualTime time, std::uint32_t type,
                     const void* content, std::size_t bytes) {
    current_lp("ScheduleNewEvent");
    if (receiver >= running_call.receivers) [[unlikely]]
        return schedule_nothing(receiver, time);
    const LpId target{static_cast<std::uint32_t>(receiver)};
    const std::span payload(static_cast<const std::byte*>(content), bytes);
    if (type >= first_own_type) [[unlikely]]
        return schedule_wide(target, time, type, payload);
    running_call.context->schedule_bytes_at(target, time, static_cast<EventType>(type), payload);
}

}  // namespace nw::rootsim
