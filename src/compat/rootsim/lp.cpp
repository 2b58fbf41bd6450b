// SPDX-License-Identifier: Apache-2.0
#include "compat/rootsim/lp.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "app/embedding.hpp"

// Symbols that the linker defines: the program's variables are from __data_start to before _end.
extern "C" char __data_start, _end;

namespace nw::rootsim {

constinit Interface model{};
constinit thread_local Call running_call{};

void refuse_call(const std::string& line) {
    if (embedding::in_handler()) throw ModelError(line);
    std::fprintf(stderr, "numawarp: %s\n", line.c_str());
    std::exit(3);
}

void called_outside(const char* function) {
    refuse_call(
        fmt::format("{}(): no handler of an LP is running; allowed: in a handler", function));
}

void set_state(Lp& lp, void* state) {
    const auto address = reinterpret_cast<std::uintptr_t>(state);
    if (address >= reinterpret_cast<std::uintptr_t>(&__data_start) &&
        address < reinterpret_cast<std::uintptr_t>(&_end))
        throw ModelError(
            "SetState(): the state is a variable of the program, which no rollback restores; "
            "allowed: memory that the LP has allocated");
    lp.state = state;
}

void schedule_nothing(std::uint64_t receiver, VirtualTime time) {
    if (running_call.lp != nullptr && running_call.lp->is_over()) return;
    const Context& context = current_context("ScheduleNewEvent");
    throw ModelError(
        fmt::format("LP {} at time {} schedules an event for LP {} at time {}: there is no "
                    "such LP; allowed: 0 to {}",
                    index(context.self()), context.now(), receiver, time, context.lps() - 1));
}

void schedule_wide(LpId target, VirtualTime time, std::uint32_t type,
                   std::span<const std::byte> content) {
    constexpr std::size_t bytes_max = UINT16_MAX - sizeof(type);
    if (content.size() > bytes_max)
        throw ModelError(fmt::format(
            "an event of type {} for LP {}: {} bytes; allowed: at most {} if the type is {} or "
            "above, else {}",
            type, index(target), content.size(), bytes_max, first_own_type, UINT16_MAX));
    std::vector<std::byte> payload(content.size() + sizeof(type));
    if (!content.empty()) std::memcpy(payload.data(), content.data(), content.size());
    std::memcpy(payload.data() + content.size(), &type, sizeof(type));
    running_call.context->schedule_bytes_at(target, time, wide_type, payload);
}

Setup setup_of(const Interface& of, std::uint64_t seed) {
    model = of;
    Setup setup;
    setup.lps = static_cast<std::uint32_t>(of.lps);
    setup.payload_bytes_max = UINT16_MAX;
    setup.process = process<Lp>(seed);
    return setup;
}

Lp::Lp(LpId self, std::uint64_t seed)
    : generator(model.first_generator(index(self), seed)), self_(index(self)) {}

void Lp::process(const Event& event) {
    std::span<const std::byte> content = event.bytes();
    std::uint32_t type = event.type();
    if (type == wide_type) [[unlikely]] {
        content = content.first(content.size() - sizeof(type));
        std::memcpy(&type, content.data() + content.size(), sizeof(type));
    }
    process(event.time(), type, content);
}

void Lp::on_start(Context& context) {
    const InCall in({this, &context});
    begin();
}

void Lp::on_event(Context& context, const Event& event) {
    const InCall in({this, &context});
    process(event);
}

void Lp::on_end(Context&) {
    if (!model.end) return;
    is_over_ = true;
    const InCall in({this, nullptr});
    process(0, *model.end, {});
}

bool Lp::can_end() const { return model.can_end(self_, state); }

}  // namespace nw::rootsim
