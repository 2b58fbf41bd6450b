// SPDX-License-Identifier: Apache-2.0
// tw_run(): the model as an nw::Model, its LPs as one class of LogicalProcess, and events.
//
// A handler receives a copy of its message and may write into the copy. The sent message does not
// change, so that the event can be executed again after a rollback by snapshot. If the model has
// reverse or commit handlers, the copy is stored in the payload when the event handler has returned
// (messages.hpp). The copy is then also part of the digest.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "app/embedding.hpp"
#include "messages.hpp"
#include "program_state.hpp"

namespace nw::ross {

constinit bool uses_differences = false;
constinit bool uses_priorities = false;
std::vector<Differences> differences;

namespace {

constexpr std::size_t alignment = alignof(std::max_align_t);

constexpr std::size_t rounded(std::size_t bytes, std::size_t to) {
    return (bytes + to - 1) / to * to;
}

LpTable table;
double end_of_run = 0;
std::atomic<bool> some_have_ended = false;  // on_end() was called for LPs of this rank

tw_bf* bits_of(std::byte* message) { return reinterpret_cast<tw_bf*>(message - bits_bytes); }

// Ends an event handler that has called tw_lp_suspend(). The event is a failed event: its LP
// executes nothing more until the event is undone. If the call of tw_lp_suspend() requested this,
// the reverse handler first undoes the changes of the event handler.
[[noreturn, gnu::cold, gnu::noinline]] void suspend() {
    const Suspension suspension = this_call().suspension;
    tw_lp* const lp = suspension.lp;
    std::byte* const message = this_call().handled();
    Call& call = this_call();
    call.found = call.stage == Stage::event_differs ? &call.made : nullptr;
    call.stage = Stage::reverse;
    if (suspension.reverses && lp->type->revent != nullptr)
        lp->type->revent(lp->cur_state, bits_of(message), message, lp);
    throw ModelError(fmt::format("the LP suspended itself with error {}", suspension.error));
}

[[noreturn, gnu::cold, gnu::noinline]] void refuse_message() {
    throw ModelError(larger_than_declared());
}

void demand_within(const std::byte* message, std::size_t bytes) {
    if (!layout.is_within(message, bytes)) [[unlikely]]
        refuse_message();
}

// An LP whose messages have `Message` bytes, in a model with reverse or commit handlers
// (MessageLayout::kept is not 0). If `Message` is 0, messages may have any size, in any model. Most
// messages are short, and a copy takes two instructions if the compiler has the size.
template <std::size_t Message>
class Lp final : public LogicalProcess {
  public:
    explicit Lp(LpId id) {
        const std::uint32_t gid = index(id);
        const std::uint32_t place = table.place_of[gid];
        tw_lp* const defined = place != LpTable::elsewhere ? g_tw_lp[place] : nullptr;
        if (defined != nullptr) {
            lp_ = *defined;
            g_tw_lp[place] = &lp_;
        } else {
            lp_.id = LpTable::elsewhere;
            lp_.gid = gid;
            lp_.pe = g_tw_pe;
            lp_.kp = g_tw_kp[0];
        }
        lp_.type = &table.types[table.type_of[gid]];
        lp_.cur_state = reinterpret_cast<std::byte*>(this) + state_offset();
        std::memset(lp_.cur_state, 0, lp_.type->state_sz);
        lp_.rng = streams();
        if (defined == nullptr || !take_defined_streams(*defined, streams())) seed_streams(lp_);
    }

    // Allocates one piece of memory for the LP, its streams and its state.
    static LogicalProcess* build(LpId id) {
        const tw_lptype& type = table.types[table.type_of[index(id)]];
        return new (::operator new(bytes_of(type))) Lp(id);
    }
    static std::size_t bytes_of(const tw_lptype& type) { return state_offset() + type.state_sz; }

    void on_start(Context& context) override {
        this_call().begin(&context, 0);
        if (lp_.type->init != nullptr) lp_.type->init(lp_.cur_state, &lp_);
        if (lp_.type->pre_run != nullptr) lp_.type->pre_run(lp_.cur_state, &lp_);
        this_call().finish();
    }

    void on_event(Context& context, const Event& event) override {
        this_call().begin(&context, event.time(), Stage::event);
        std::byte* message = this_call().handled();
        std::memset(message - bits_bytes, 0, bits_bytes);
        std::memcpy(message, event.bytes().data() + kept_bytes(), message_bytes());
        lp_.type->event(lp_.cur_state, bits_of(message), message, &lp_);
        Call& call = this_call();  // not held in a register during the handler's call
        if (call.suspension.lp != nullptr) [[unlikely]]
            suspend();
        message = call.handled();
        demand_within(message, message_bytes());
        if (kept_bytes() != 0)
            std::memcpy(embedding::writable_payload(event).data(), message - bits_bytes,
                        kept_bytes());
        if (call.stage == Stage::event_differs && !differences.empty()) [[unlikely]]
            keep_difference(context, event);
        call.finish();
    }

    void on_reverse(Context& context, const Event& event) override {
        const bool has_difference = context.control() != 0;
        this_call().begin(&context, event.time(), Stage::reverse);
        this_call().found = has_difference ? &differences[lp_.gid].back() : nullptr;
        call_again(lp_.type->revent, event);
        if (has_difference) [[unlikely]]
            drop_difference();
        this_call().finish();
    }

    void on_commit(const Event& event) override {
        if (!differences.empty()) drop_differences_until(event);
        if (lp_.type->commit == nullptr) return;
        this_call().begin(nullptr, event.time());
        call_again(lp_.type->commit, event);
        this_call().finish();
    }

    void on_end(Context& context) override {
        // After the run, main() may read memory that `final` allocates.
        const embedding::LibcMemory libc;
        some_have_ended.store(true, std::memory_order_relaxed);
        this_call().begin(&context, context.now());
        if (lp_.type->final != nullptr) lp_.type->final(lp_.cur_state, &lp_);
        demand_unchanged(context.self());
        this_call().finish();
    }

  private:
    static std::size_t streams_offset() { return rounded(sizeof(Lp), alignof(tw_rng_stream)); }
    static std::size_t state_offset() {
        return rounded(streams_offset() + g_tw_nRNG_per_lp * sizeof(tw_rng_stream), alignment);
    }
    tw_rng_stream* streams() {
        return reinterpret_cast<tw_rng_stream*>(reinterpret_cast<std::byte*>(this) +
                                                streams_offset());
    }

    static std::size_t message_bytes() { return Message != 0 ? Message : layout.message; }
    static std::size_t kept_bytes() { return Message != 0 ? bits_bytes + Message : layout.kept; }

    // Throws ModelError if a handler has changed a value that the engine reads only before the run.
    void demand_unchanged(LpId self) const {
        if (lp_.gid != index(self))
            throw ModelError(
                fmt::format("lp->gid is {} now; allowed: the original value", lp_.gid));
        if (g_tw_ts_end != end_of_run)
            throw ModelError(
                fmt::format("g_tw_ts_end is {} now; allowed: its value at the call of tw_run(), {}",
                            g_tw_ts_end, end_of_run));
    }

    // Calls a reverse or commit handler with the tw_bf and the message as the event handler left
    // them.
    void call_again(event_f handler, const Event& event) {
        std::byte* const message = this_call().handled();
        std::memcpy(message - bits_bytes, event.bytes().data(), kept_bytes());
        handler(lp_.cur_state, bits_of(message), message, &lp_);
        demand_within(this_call().handled(), message_bytes());
    }

    [[gnu::noinline]] void keep_difference(Context& context, const Event& event) {
        const embedding::LibcMemory libc;
        Difference& kept = differences[lp_.gid].emplace_back(std::move(this_call().made));
        kept.time = event.time();
        kept.event = event.bytes().data();
        context.control() = 1;
    }
    [[gnu::noinline]] void drop_difference() {
        const embedding::LibcMemory libc;
        differences[lp_.gid].pop_back();
    }
    // Drops the differences of this event and of earlier events. There can be differences of
    // earlier events that were rolled back: --check-model also runs with snapshots, and a rollback
    // by snapshot drops no differences.
    [[gnu::noinline]] void drop_differences_until(const Event& event) {
        const std::byte* const own = event.bytes().data();
        const auto is_final = [&](const Difference& kept) {
            return kept.time < event.time() || (kept.time == event.time() && kept.event == own);
        };
        Differences& all = differences[lp_.gid];
        while (!all.empty() && is_final(all.front())) all.pop_front();
    }

    tw_lp lp_{};
};

// Builds an LP of the class for the size of its messages. `Words`: the sizes in words of 8 bytes,
// from 0.
template <std::size_t... Words>
LogicalProcess* build(LpId id, std::index_sequence<Words...>) {
    using Build = LogicalProcess* (*)(LpId);
    constexpr Build of_size[] = {Lp<8 * Words>::build...};
    const std::size_t words = layout.kept != 0 ? layout.message / 8 : 0;
    return of_size[words < sizeof...(Words) ? words : 0](id);
}

bool all_have(auto member) {
    return std::all_of(table.types.begin(), table.types.end(),
                       [&](const tw_lptype& type) { return type.*member != nullptr; });
}
bool any_has(auto member) {
    return std::any_of(table.types.begin(), table.types.end(),
                       [&](const tw_lptype& type) { return type.*member != nullptr; });
}

class RossModel final : public Model {
  public:
    explicit RossModel(std::string name) : Model(std::move(name), "a model written for ROSS") {}

    void on_worker_start() override { Call::reserve(); }

    Setup setup() override {
        Setup setup;
        setup.lps = static_cast<std::uint32_t>(g_tw_total_lps);
        setup.until = g_tw_ts_end;
        // ROSS uses the lookahead in conservative runs only.
        if (g_tw_synchronization_protocol == CONSERVATIVE) setup.lookahead = g_tw_lookahead;
        setup.payload_bytes_max = layout.payload();
        setup.process.build = [](LpId id) { return build(id, std::make_index_sequence<9>()); };
        for (const tw_lptype& type : table.types)
            setup.process.object_bytes =
                std::max(setup.process.object_bytes, Lp<0>::bytes_of(type));
        setup.process.has_reverse = all_have(&tw_lptype::revent);
        setup.process.has_commit = any_has(&tw_lptype::commit) || !differences.empty();
        setup.preferred_rollback =
            setup.process.has_reverse ? Rollback::reverse : Rollback::snapshot;
        setup.likeness = [](LpId id) { return table.type_of[index(id)]; };
        setup.outputs = {{"tw_output", {"text"}}};
        setup.bound_to_process = true;
        setup.rank_of = [](LpId id) { return table.node_of[index(id)]; };
        setup.own_words = program().own_words;
        setup.own_words_last = program().left;
        setup.on_gvt = [](VirtualTime gvt) {
            std::atomic_ref(g_tw_pe->GVT).store(gvt, std::memory_order_relaxed);
            std::atomic_ref(g_tw_pe->GVT_sig.recv_ts).store(gvt, std::memory_order_relaxed);
            std::atomic_ref(g_tw_gvt_done).fetch_add(1, std::memory_order_relaxed);
        };
        return setup;
    }
};

std::string name_of_program() {
    const std::string& path = program().arguments.front();
    return path.substr(path.find_last_of('/') + 1);
}

int run_model() {
    std::vector<char*> arguments;
    for (std::string& argument : program().arguments) arguments.push_back(argument.data());
    RossModel model(name_of_program());
    return nw::run(static_cast<int>(arguments.size()), arguments.data(), model);
}

// Whether the run has reached its end. False if the run was saved and stopped, or if there was no
// run (as with --help). In these cases there are no results that main() could read. All ranks
// return the same value, even ranks without LPs.
bool has_come_to_end() {
    const int own = some_have_ended ? 1 : 0;
    int any = own;
    if (program().ranks > 1) MPI_Allreduce(&own, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any != 0;
}

Context& context_for(const char* function) {
    Context* const context = this_call().context();
    if (context == nullptr)
        refuse(fmt::format("{}: allowed: in init, pre_run and event handlers", function));
    return *context;
}

}  // namespace
}  // namespace nw::ross

using nw::ross::layout;
using nw::ross::this_call;

namespace {

std::byte* message_of(tw_event* event) { return static_cast<std::byte*>(tw_event_data(event)); }

// The payload of a new event. It begins layout.kept bytes before the message. The results of the
// event handler will overwrite these bytes later. When the event is sent, these bytes are part of
// the tw_event, or unused.
std::span<const std::byte> payload_from(const std::byte* message) {
    return {message - layout.kept, layout.payload()};
}

void schedule(nw::Context& context, const tw_event* event, const std::byte* message) {
    context.schedule_bytes(static_cast<nw::LpId>(event->dest_lpid), event->offset_ts, 0,
                           payload_from(message));
}

void schedule_by_priority(nw::Context& context, const tw_event* event, const std::byte* message) {
    const auto number =
        static_cast<std::uint16_t>(nw::ross::priority_without - event->numawarp_ahead);
    context.schedule_bytes(static_cast<nw::LpId>(event->dest_lpid), event->offset_ts, 0,
                           payload_from(message), nw::Priority{number});
}

// tw_event_send() sends events for LPs below this number without send_with_care(). The number is 0
// if events have priorities, and otherwise the number of LPs.
tw_lpid first_with_care = 0;

// The general case of tw_event_send(). It sends events that are not the newest one and events with
// priorities, and it reports errors.
[[gnu::cold, gnu::noinline]] void send_with_care(tw_event* event) {
    nw::Context& context = nw::ross::context_for("tw_event_send()");
    if (!this_call().holds(event))
        nw::ross::refuse(
            "tw_event_send(): the event was already sent, or was not created by this handler; "
            "allowed: each event of tw_event_new(), once");
    if (event->dest_lpid >= context.lps())
        nw::ross::refuse(fmt::format("tw_event_send(): there is no LP {}; allowed: from 0 to {}",
                                     event->dest_lpid, context.lps() - 1));
    std::byte* const message = message_of(event);
    nw::ross::demand_within(message, layout.message);
    if (this_call().made_last(event)) this_call().release(event);
    if (nw::ross::uses_priorities)
        schedule_by_priority(context, event, message);
    else
        schedule(context, event, message);
}

}  // namespace

[[gnu::cold]] void numawarp_ross_make_room(void) {
    nw::ross::context_for("tw_event_new()");
    if (!this_call().make_ready())
        nw::ross::refuse(
            fmt::format("tw_event_new(): {} events are created and not sent; allowed: a call after "
                        "tw_event_send()",
                        nw::ross::Call::events_max));
}

void tw_event_send(tw_event* event) {
    nw::ross::Call& call = this_call();
    std::byte* const message = message_of(event);
    if (!layout.is_within(message, layout.message) || !call.made_last(event) ||
        event->dest_lpid >= first_with_care) [[unlikely]]
        return send_with_care(event);
    call.release(event);
    schedule(call.known_context(), event, message);
}

void tw_lp_suspend(tw_lp* lp, int do_orig_event_rc, int error_num) {
    if (lp == nullptr || this_call().stage < nw::ross::Stage::event ||
        this_call().stage == nw::ross::Stage::reverse)
        nw::ross::refuse("tw_lp_suspend(): allowed: for the LP whose event handler calls it");
    this_call().suspension = {lp, do_orig_event_rc != 0, error_num};
}

int tw_output(tw_lp*, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const std::string text = nw::ross::formatted(format, arguments);
    va_end(arguments);
    nw::ross::context_for("tw_output()").output(0, std::string_view(text));
    return static_cast<int>(text.size());
}

void tw_rand_init_streams(tw_lp* lp, unsigned int nstreams, unsigned int) {
    if (nstreams > g_tw_nRNG_per_lp)
        nw::ross::refuse(
            fmt::format("tw_rand_init_streams(): {} streams; allowed: at most g_tw_nRNG_per_lp, {}",
                        nstreams, g_tw_nRNG_per_lp));
    // Each LP has its streams from the start.
    (void)lp;
}

void tw_run(void) {
    using namespace nw::ross;
    demand_outside("tw_run()");
    if (program().is_done) refuse("tw_run(): must be called only once");
    program().is_done = true;
    demand_world();
    if (!(g_tw_lookahead >= 0))
        refuse(fmt::format("g_tw_lookahead is {}; allowed: at least 0", g_tw_lookahead));
    table = lp_table();
    layout = MessageLayout(g_tw_msg_sz, any_has(&tw_lptype::revent) || any_has(&tw_lptype::commit));
    if (layout.payload() > 65535)
        refuse(fmt::format("tw_define_lps(..., {}): messages must be at most {} bytes", g_tw_msg_sz,
                           layout.kept > 0 ? (65535 - 8) / 16 * 8 : 65528));
    if (uses_differences && all_have(&tw_lptype::revent) && may_reverse())
        differences = std::vector<Differences>(g_tw_total_lps);
    first_with_care = uses_priorities ? 0 : g_tw_total_lps;
    end_of_run = g_tw_ts_end;
    const int code = run_model();
    this_call().finish();  // a failed handler has not called finish()
    if (code == 0 && has_come_to_end()) return;
    std::fflush(stdout);
    tw_end();
    std::exit(code);
}
