// A ROOT-Sim model's LP as one of ours. Its functions are C and know nothing of a Context: what they call
// finds that of their thread's handler here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

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

class Lp final : public LogicalProcess {
  public:
    // `functions` outlive it.
    Lp(LpId self, const Functions* functions, std::uint64_t seed);

    void on_start(Context& context) override;
    void on_event(Context& context, const Event& event) override;
    void on_end(Context& context) override;
    bool can_end() const override;

    void* state = nullptr;
    Generator generator;  // of ROOT-Sim's random numbers

  private:
    const Functions& functions_;
    std::uint32_t self_;
};

// The handler that this thread is in.
struct Call {
    Context* context;
    Lp* lp;
    bool is_over;  // the run is: nothing is scheduled any more
};

// Of this thread. Ends the program with one line if it is in no handler: `function` is to be called in one.
const Call& current_call(const char* function);
bool is_in_handler() noexcept;

// A Setup with so many of them, for a model that declares no bound of its events' sizes. `functions` outlive
// the run. Requires: lps fits.
Setup setup_of(std::uint64_t lps, const Functions* functions, std::uint64_t seed);

// As ScheduleNewEvent(). Throws ModelError.
void schedule(std::uint64_t receiver, VirtualTime time, std::uint32_t type, const void* content,
              std::size_t bytes);

}  // namespace nw::rootsim
