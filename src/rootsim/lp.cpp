#include "rootsim/lp.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace nw::rootsim {

namespace {

thread_local Call call{};

// Events have types of 32 bits there and of 16 here. Those that are too large, and this number, follow the
// content of an event of this type.
constexpr EventType wide_type = UINT16_MAX;

// What is called by it finds the handler in `call`. Also left by an exception; by a crash it is not, and
// then the next handler overwrites it.
class InCall {
  public:
    InCall(Context& context, Lp& lp, bool is_over = false) { call = {&context, &lp, is_over}; }
    ~InCall() { call = {}; }
    InCall(const InCall&) = delete;
    InCall& operator=(const InCall&) = delete;
};

}  // namespace

const Call& current_call(const char* function) {
    if (call.context == nullptr) [[unlikely]] {
        std::fprintf(
            stderr,
            "numawarp: %s(): there is no LP whose handler is running; legal: in a handler\n",
            function);
        std::exit(3);
    }
    return call;
}

bool is_in_handler() noexcept { return call.context != nullptr; }

void schedule(std::uint64_t receiver, VirtualTime time, std::uint32_t type, const void* content,
              std::size_t bytes) {
    const Call& now = current_call("ScheduleNewEvent");
    if (now.is_over) return;
    Context& context = *now.context;
    if (receiver >= context.lps()) [[unlikely]]
        throw ModelError(
            fmt::format("LP {} at time {} schedules an event for LP {} at time {}: there is no "
                        "such LP; legal: 0 to {}",
                        index(context.self()), context.now(), receiver, time, context.lps() - 1));
    const LpId target{static_cast<std::uint32_t>(receiver)};
    const auto* first = static_cast<const std::byte*>(content);
    if (type < wide_type) [[likely]] {
        context.schedule_bytes_at(target, time, static_cast<EventType>(type), {first, bytes});
        return;
    }
    std::vector<std::byte> payload(bytes + sizeof(type));
    if (bytes > 0) std::memcpy(payload.data(), content, bytes);
    std::memcpy(payload.data() + bytes, &type, sizeof(type));
    context.schedule_bytes_at(target, time, wide_type, payload);
}

Setup setup_of(std::uint64_t lps, const Functions* functions, std::uint64_t seed) {
    Setup setup;
    setup.lps = static_cast<std::uint32_t>(lps);
    setup.payload_bytes_max = UINT16_MAX;
    setup.process = process<Lp>(functions, seed);
    return setup;
}

Lp::Lp(LpId self, const Functions* functions, std::uint64_t seed)
    : generator(functions->first_generator(index(self), seed)),
      functions_(*functions),
      self_(index(self)) {}

void Lp::on_start(Context& context) {
    const InCall in(context, *this);
    functions_.process_event(self_, 0, functions_.begin, nullptr, 0, nullptr);
}

void Lp::on_event(Context& context, const Event& event) {
    const InCall in(context, *this);
    std::uint32_t type = event.type();
    std::size_t bytes = event.bytes().size();
    if (type == wide_type) [[unlikely]] {
        bytes -= sizeof(type);
        std::memcpy(&type, event.bytes().data() + bytes, sizeof(type));
    }
    functions_.process_event(self_, event.time(), type, event.bytes().data(),
                             static_cast<unsigned>(bytes), state);
}

void Lp::on_end(Context& context) {
    if (!functions_.end) return;
    const InCall in(context, *this, true);
    functions_.process_event(self_, 0, *functions_.end, nullptr, 0, state);
}

bool Lp::can_end() const { return functions_.can_end(self_, state); }

}  // namespace nw::rootsim
