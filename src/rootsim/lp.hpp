// A ROOT-Sim model's LP as one of ours. Its functions are C and know nothing of a Context: what they call
// finds that of their thread's handler here.
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

// What the model has, and how this version of ROOT-Sim speaks to it.
struct Interface {
    void (*process_event)(std::uint64_t lp, double now, unsigned type, const void* content,
                          unsigned bytes, void* state);
    bool (*can_end)(std::uint64_t lp, const void* state);
    unsigned begin;               // the type of what an LP is told first
    std::optional<unsigned> end;  // and of what it is told when the run is over
    Generator (*first_generator)(std::uint64_t lp, std::uint64_t seed);
    std::uint64_t lps;
};

// Of the program's model, from setup_of() on. A program has one, and each event looks at it.
extern constinit Interface model;

// Events have types of 32 bits there and of 16 here. Those of these types are the door's own: the last is that of
// events whose type is one of these or larger, and follows their content.
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
    // The model has been told of the run's end: what it schedules is dropped.
    bool is_over() const noexcept { return is_over_; }

  protected:
    // Call the model's function. Require: InCall.
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

// A Setup for this model, which declares no bound of its events' sizes. Requires: its LPs fit.
Setup setup_of(const Interface& of, std::uint64_t seed);

// --- What a model's function calls -----------------------------------------------------------------

struct Call {
    Lp* lp;            // null: none of the model's functions is running
    Context* context;  // null: it is none that may schedule
};

// Of this thread.
extern constinit thread_local Call running_call;

// Around a function of the model's. Also left by an exception; by a crash it is not, and then the next one, or the end
// of the run, overwrites it.
class InCall {
  public:
    explicit InCall(const Call& call) noexcept { running_call = call; }
    ~InCall() { running_call = {}; }
    InCall(const InCall&) = delete;
    InCall& operator=(const InCall&) = delete;
};

// One line: a ModelError in a function of the model's, elsewhere the end of the program.
[[noreturn, gnu::cold]] void refuse_call(const std::string& line);
[[noreturn, gnu::cold]] void called_outside(const char* function);

// `function` is to be called in one of the model's functions: is called_outside() if none is running.
inline Lp& current_lp(const char* function) {
    Lp* const lp = running_call.lp;
    if (lp == nullptr) [[unlikely]]
        called_outside(function);
    return *lp;
}

// The same of a handler.
inline Context& current_context(const char* function) {
    Context* const context = running_call.context;
    if (context == nullptr) [[unlikely]]
        called_outside(function);
    return *context;
}

// As SetState(). Throws ModelError where it is no memory that a rollback could restore.
void set_state(Lp& lp, void* state);

// What schedule() does seldom.
[[gnu::cold]] void schedule_nothing(std::uint64_t receiver, VirtualTime time);
[[gnu::cold]] void schedule_wide(LpId target, VirtualTime time, std::uint32_t type,
                                 std::span<const std::byte> content);

// As ScheduleNewEvent(). Throws ModelError.
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
