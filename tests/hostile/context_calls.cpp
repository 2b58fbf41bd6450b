// SPDX-License-Identifier: Apache-2.0
// Invalid calls of the Context, and very many calls.
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

#include "kind.hpp"

namespace hostile {
namespace {

constexpr nw::EventType harmless = 9;

void schedule_after(Scene& scene, nw::VirtualTime delay) {
    scene.context().schedule(scene.context().self(), delay, harmless);
}

void into_past(Scene& scene) { schedule_after(scene, -1); }
void just_into_past(Scene& scene) { schedule_after(scene, -5e-324); }
void at_nan(Scene& scene) { schedule_after(scene, std::nan("")); }
void at_infinity(Scene& scene) { schedule_after(scene, nw::time_infinity); }
void at_minus_infinity(Scene& scene) { schedule_after(scene, -nw::time_infinity); }
void at_overflow(Scene& scene) { schedule_after(scene, std::numeric_limits<double>::max()); }

void to_unknown_lp(Scene& scene) { scene.context().schedule(nw::LpId{99}, 1, harmless); }
void to_last_number(Scene& scene) { scene.context().schedule(nw::LpId{0xffffffff}, 1, harmless); }
void below_lookahead(Scene& scene) { scene.context().schedule(nw::LpId{3}, 0.25, harmless); }

void large_payload(Scene& scene) {
    scene.context().schedule(scene.context().self(), 1, harmless, std::array<char, 64>{});
}

void send_bytes(Scene& scene, std::uintptr_t address, std::size_t bytes) {
    scene.context().schedule_bytes(scene.context().self(), 1, harmless,
                                   {hidden(reinterpret_cast<const std::byte*>(address)), bytes});
}

void null_payload(Scene& scene) { send_bytes(scene, 0, 16); }
void wild_payload(Scene& scene) { send_bytes(scene, 0xdeadbeef000, 16); }
void endless_payload(Scene& scene) { send_bytes(scene, 0xdeadbeef000, std::size_t{1} << 60); }

void some_then_crash(Scene& scene) {
    for (std::uint32_t i = 0; i < 100; ++i)
        scene.context().schedule(nw::LpId{i % scene.context().lps()}, 1, harmless, i);
    crash();
}

void some_then_past(Scene& scene) {
    for (std::uint32_t i = 0; i < 100; ++i)
        scene.context().schedule(nw::LpId{i % scene.context().lps()}, 1, harmless, i);
    into_past(scene);
}

void schedule_much(Scene& scene) {
    for (std::uint32_t i = 0; i < 2000; ++i) schedule_after(scene, 1 + 1e-6 * i);
}

void schedule_beyond_end(Scene& scene) {
    for (std::uint32_t i = 0; i < 100'000; ++i) schedule_after(scene, 1e6);
}

void schedule_for_ever(Scene& scene) {
    while (always()) schedule_after(scene, 1e6);
}

void schedule_for_ever_and_ever(Scene& scene) {
    while (always()) schedule_after(scene, 1);
}

void schedule_here_and_now(Scene& scene) {
    for (std::uint32_t i = 0; i < 1000; ++i) schedule_after(scene, 0);
}

void draw_below_zero(Scene& scene) { hidden(scene.context().random().below(hidden(0u))); }

void draw_from_nan(Scene& scene) {
    schedule_after(scene, scene.context().random().exponential(std::nan("")));
}

void draw_endless_sum(Scene& scene) {
    schedule_after(scene, scene.context().random().erlang(hidden(4'000'000'000u), 1));
}

void write_rows(Scene& scene) {
    for (int i = 0; i < 1000; ++i) scene.context().output(0, "a row", i);
}

void write_rows_and_crash(Scene& scene) {
    write_rows(scene);
    crash();
}

void write_wild_text(Scene& scene) {
    scene.context().output(0, std::string_view(hidden(reinterpret_cast<const char*>(0x10)), 20), 1);
}

void write_endless_text(Scene& scene) {
    scene.context().output(0, std::string_view("short", hidden(std::size_t{1} << 40)), 1);
}

void write_null_text(Scene& scene) { scene.context().output(0, hidden<const char*>(nullptr), 1); }

void write_to_wrong_table(Scene& scene) { scene.context().output(7, "a row", 1); }
void write_too_many_columns(Scene& scene) { scene.context().output(0, "a row", 1, 2); }
void write_too_few_columns(Scene& scene) { scene.context().output(0, "a row"); }

void write_wild_rows(Scene& scene) {
    scene.context().output_row(
        0, {hidden(reinterpret_cast<const nw::OutputValue*>(0xdeadbeef000)), 2});
}

void use_control(Scene& scene) { scene.context().control() = ~0ull; }

struct Old {
    nw::Context* context = nullptr;
};

void keep_context(Scene& scene) { scene.kept<Old>().context = &scene.context(); }

// Does not use the pointer, because it may now point to the Context of another handler, or into
// another stack.
void use_old_context(Scene& scene) {
    if (scene.kept<Old>().context != nullptr) throw std::runtime_error("an old Context");
}

constexpr Kind table[] = {
    {"schedule-into-past", "schedules into the past", "-1", into_past},
    {"schedule-just-into-past", "schedules into the past by the smallest difference", "-5e-324",
     just_into_past},
    {"schedule-nan", "schedules at a time that is NaN", "nan", at_nan},
    {"schedule-infinity", "schedules at infinity", "inf", at_infinity},
    {"schedule-minus-infinity", "schedules at minus infinity", "-inf", at_minus_infinity},
    {"schedule-overflow", "schedules at the largest finite time", nullptr, at_overflow},
    {"schedule-unknown-lp", "schedules for an LP that does not exist", "99", to_unknown_lp},
    {"schedule-last-number", "schedules for the LP of number 2^32-1", "4294967295", to_last_number},
    {"schedule-below-lookahead", "schedules below the declared lookahead", "lookahead",
     below_lookahead},
    {"payload-too-large", "sends more bytes than the declared maximum", "64", large_payload},
    {"payload-null", "sends bytes from a null pointer", "SIGSEGV", null_payload},
    {"payload-wild", "sends bytes from a bad address", "SIGSEGV", wild_payload},
    {"payload-endless", "sends an exbibyte", "", endless_payload},
    {"schedule-then-crash", "schedules a hundred events and crashes", "SIGSEGV", some_then_crash},
    {"schedule-then-past", "schedules a hundred events and then one into the past", "-1",
     some_then_past},
    {"schedule-much", "schedules two thousand events", nullptr, schedule_much},
    {"schedule-beyond-end", "schedules a hundred thousand events beyond the end", nullptr,
     schedule_beyond_end},
    {"schedule-for-ever", "schedules events beyond the end without end", "", schedule_for_ever,
     dear},
    {"schedule-until-full", "schedules events until memory ends", "out of memory",
     schedule_for_ever_and_ever, dear},
    {"schedule-here-and-now", "schedules a thousand events without delay", nullptr,
     schedule_here_and_now},
    {"draw-below-zero", "draws a number below zero", nullptr, draw_below_zero},
    {"draw-from-nan", "draws a delay with a mean that is NaN", "nan", draw_from_nan},
    {"draw-endless-sum", "draws a sum of four billion delays", "", draw_endless_sum, dear},
    {"output-much", "writes a thousand rows", nullptr, write_rows, writes_rows},
    {"output-then-crash", "writes a thousand rows and crashes", "SIGSEGV", write_rows_and_crash,
     writes_rows},
    {"output-wild-text", "writes a text from a bad address", "SIGSEGV", write_wild_text,
     writes_rows},
    {"output-endless-text", "writes a text of a TiB", "", write_endless_text, writes_rows},
    {"output-null-text", "writes a text that is a null pointer", "", write_null_text, writes_rows},
    {"output-wrong-table", "writes to a table that it has not declared", "table 7",
     write_to_wrong_table, writes_rows},
    {"output-too-many", "writes a row with one column more than declared", "column",
     write_too_many_columns, writes_rows},
    {"output-too-few", "writes a row with one column fewer than declared", "column",
     write_too_few_columns, writes_rows},
    {"output-wild-row", "writes a row from a bad address", "SIGSEGV", write_wild_rows, writes_rows},
    {"control-written", "writes the control word that reverse handlers use", nullptr, use_control},
    {"context-kept", "keeps a pointer to its Context for later events", "an old Context",
     use_old_context, keeps_heap, Hook::on_event, keep_context},
};

}  // namespace

std::span<const Kind> context_calls() { return table; }

}  // namespace hostile
