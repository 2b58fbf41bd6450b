// SPDX-License-Identifier: Apache-2.0
// The library of ./jobs/run timed. It gives a QEMU guest a clock that follows modeled time: the
// instructions of each vCPU, and the latencies and bandwidths of a machine with several nodes.
//
// QEMU loads the library twice, as one object: with LD_PRELOAD, for the functions of the C library
// that QEMU calls, and as a plug-in, which receives instructions and accesses.
//
// Arguments, from jobs/research/timed: those of CostRules (cost_model.hpp), and
//
//   instruction=PS   modeled time of an instruction
//   skew=PS          how far a vCPU may be ahead of the slowest one
//   out=FILE         the figures are written to FILE, three or four lines for each CPU
//
// The mark of meter_begin (util/meter_marks.hpp) starts the model of memory. Before it, accesses to
// memory take no time. The marks of phases limit the counts of the event loop: on each vCPU, from
// the first phase of the first event loop to the first mark of its end.
//
// At most 16 vCPUs: QEMU moves larger scoreboards while vCPUs execute code. Requires QEMU 9.1 or
// later (conditional callbacks), accel=tcg,thread=multi, and an x86-64 host.
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "jobs/research/qemu/arguments.hpp"
#include "jobs/research/qemu/instructions.hpp"
#include "jobs/research/qemu/qemu_api.hpp"
#include "jobs/research/timed/plugin/cost_model.hpp"
#include "jobs/research/timed/plugin/guest_clock.hpp"
#include "jobs/research/timed/plugin/interposed.hpp"

namespace nw::timed {
namespace {

using namespace qemu;

// A loop that waits executes PAUSE, which takes longer than other instructions.
constexpr Picoseconds pause_time = 40'000;
// An access to a device, for example an interrupt to another CPU.
constexpr Picoseconds device_time = 200'000;
constexpr int exit_unusable = 77;
constexpr std::size_t vcpus_max = 16;

// The counts of a vCPU. Only differences between two of them have a meaning.
struct Counts {
    std::uint64_t instructions = 0;
    AccessCounts memory;
};

// The counts of a vCPU at the beginning and at the end of the first event loop that it executed.
struct EventLoop {
    std::optional<Counts> begin, end;
};

// The data of the plug-in. They are never deleted, because QEMU's threads use them until the
// process ends.
struct Guest {
    CostRules rules;
    Picoseconds instruction = 0;
    Picoseconds skew = 0;
    std::string out;

    std::unique_ptr<CostModel> model;
    std::unique_ptr<GuestClock> clock;
    qemu_plugin_u64 used{}, instructions{};
    std::vector<EventLoop> loops;  // of the vCPUs
    Picoseconds model_begin = 0;

    bool configure(int argc, char** argv);
    void start_model();
    Counts counts(unsigned vcpu) const {
        const auto* words = static_cast<const std::uint64_t*>(
            qemu_plugin_scoreboard_find(instructions.score, vcpu));
        return {words[instructions.offset / sizeof *words], model->counts(vcpu)};
    }
    // A thread on this vCPU begins a phase.
    void note_phase(unsigned vcpu, MeterPhase phase);
    void write() const;
};
Guest* the_guest = nullptr;

bool Guest::configure(int argc, char** argv) {
    const auto positive = [](std::string_view text, Picoseconds& value) {
        const auto values = numbers(text);
        value = values.size() == 1 ? static_cast<Picoseconds>(values[0]) : 0;
        return value > 0;
    };
    const bool is_set =
        for_each_argument(argc, argv, [&](std::string_view name, std::string_view text) {
            if (name == "instruction") return positive(text, instruction);
            if (name == "skew") return positive(text, skew);
            if (name != "out") return rules.set(name, numbers(text));
            out = text;
            return true;
        });
    return is_set && !out.empty() && instruction > 0 && skew > 0 && rules.is_complete() &&
           rules.node_of_cpu.size() <= vcpus_max;
}

void Guest::start_model() {
    if (clock->is_modeling()) return;
    if (const std::string missing = functions_not_called(); !missing.empty()) {
        std::fprintf(
            stderr,
            "numawarp timed: this QEMU has not called %s, so its clock cannot be replaced\n",
            missing.c_str());
        _exit(exit_unusable);
    }
    model_begin = clock->now();
    clock->start_model();
}

void Guest::note_phase(unsigned vcpu, MeterPhase phase) {
    if (!clock->is_modeling() || phase == MeterPhase::none || phase == MeterPhase::set_up) return;
    EventLoop& loop = loops[vcpu];
    if (phase != MeterPhase::ending) {
        if (!loop.begin) loop.begin = counts(vcpu);
    } else if (loop.begin && !loop.end) {
        loop.end = counts(vcpu);
    }
}

void write_loop(std::FILE* file, unsigned cpu, const EventLoop& loop) {
    if (!loop.end) return;
    const auto lines = [](const AccessCounts& counts) {
        return std::accumulate(counts.memory, counts.memory + nodes_max, std::uint64_t{0}) +
               std::accumulate(counts.passed, counts.passed + nodes_max, std::uint64_t{0});
    };
    const AccessCounts &begin = loop.begin->memory, &end = loop.end->memory;
    const auto stores = end.stores - begin.stores;
    std::fprintf(file,
                 "loop %u instructions %llu loads %llu stores %llu l1_misses %llu l2_misses %llu "
                 "tlb_misses %llu\n",
                 cpu,
                 static_cast<unsigned long long>(loop.end->instructions - loop.begin->instructions),
                 static_cast<unsigned long long>(end.accesses - begin.accesses - stores),
                 static_cast<unsigned long long>(stores),
                 static_cast<unsigned long long>(end.first_misses - begin.first_misses),
                 static_cast<unsigned long long>(lines(end) - lines(begin)),
                 static_cast<unsigned long long>(end.walks - begin.walks));
}

void Guest::write() const {
    if (!clock->is_modeling()) return;
    std::FILE* const file = std::fopen(out.c_str(), "w");
    if (file == nullptr) return std::perror(out.c_str());
    const std::size_t nodes = rules.memory.nodes();
    std::fprintf(file, "begin %lld end %lld\n", static_cast<long long>(model_begin),
                 static_cast<long long>(clock->now()));
    for (unsigned cpu = 0; cpu < rules.node_of_cpu.size(); ++cpu) {
        const AccessCounts& counts = model->counts(cpu);
        const GuestClock::Statistics& times = clock->statistics(cpu);
        std::fprintf(file,
                     "cpu %u node %u time %lld accesses %llu walks %llu upgrades %llu waited %lld "
                     "allowances %llu overruns %llu\n",
                     cpu, rules.node_of_cpu[cpu], static_cast<long long>(clock->time_of(cpu)),
                     static_cast<unsigned long long>(counts.accesses),
                     static_cast<unsigned long long>(counts.walks),
                     static_cast<unsigned long long>(counts.upgrades),
                     static_cast<long long>(counts.waited),
                     static_cast<unsigned long long>(times.allowances),
                     static_cast<unsigned long long>(times.overruns));
        const auto print = [&](const char* name, const std::uint64_t* by_node) {
            std::fprintf(file, "%s %u", name, cpu);
            for (std::size_t node = 0; node < nodes; ++node)
                std::fprintf(file, " %llu", static_cast<unsigned long long>(by_node[node]));
            std::fputc('\n', file);
        };
        print("memory", counts.memory);
        print("passed", counts.passed);
        write_loop(file, cpu, loops[cpu]);
    }
    const bool is_whole = std::ferror(file) == 0;
    if (std::fclose(file) == 0 && is_whole) return;
    std::perror(out.c_str());
    std::remove(out.c_str());
}

// --- Callbacks ---------------------------------------------------------------------------------

void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, std::uint64_t address, void*) {
    Guest& guest = *the_guest;
    if (!guest.clock->is_modeling()) return;
    const qemu_plugin_hwaddr* where = qemu_plugin_get_hwaddr(info, address);
    if (where == nullptr) return;
    if (qemu_plugin_hwaddr_is_io(where)) return guest.clock->charge(vcpu, device_time);
    const GuestMemory& memory = guest.rules.memory;
    const std::uint64_t offset = memory.offset_of(qemu_plugin_hwaddr_phys_addr(where));
    if (offset >= memory.bytes()) return;
    const Access access{address, offset, 1u << qemu_plugin_mem_size_shift(info),
                        qemu_plugin_mem_is_store(info)};
    guest.clock->charge(vcpu, guest.model->cost_of(vcpu, access, guest.clock->time_of(vcpu)));
}

void on_allowance_used(unsigned vcpu, void*) { the_guest->clock->on_allowance_used(vcpu); }

void on_mark(qemu_plugin_insn* instruction, std::uint32_t mark) {
    const auto kind = static_cast<MeterMark>(mark >> 8 & 0xff);
    if (kind == MeterMark::begin)
        qemu_plugin_register_vcpu_insn_exec_cb(
            instruction, [](unsigned, void*) { the_guest->start_model(); }, QEMU_PLUGIN_CB_NO_REGS,
            nullptr);
    if (kind == MeterMark::phase)
        qemu_plugin_register_vcpu_insn_exec_cb(
            instruction,
            [](unsigned vcpu, void* phase) {
                the_guest->note_phase(
                    vcpu, static_cast<MeterPhase>(reinterpret_cast<std::uintptr_t>(phase)));
            },
            QEMU_PLUGIN_CB_NO_REGS, reinterpret_cast<void*>(std::uintptr_t{mark & 0xff}));
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
    Guest& guest = *the_guest;
    const std::size_t count = qemu_plugin_tb_n_insns(block);
    Picoseconds time = static_cast<Picoseconds>(count) * guest.instruction;
    for (std::size_t i = 0; i < count; ++i) {
        qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
        const Code code = code_of(instruction);
        if (code[0] == 0xf3 && code[1] == 0x90) time += pause_time;
        if (const std::uint32_t mark = mark_of(code); mark != 0) on_mark(instruction, mark);
        qemu_plugin_register_vcpu_mem_cb(instruction, on_access, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, nullptr);
    }
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(block, qemu_plugin_inline_add_u64, guest.used,
                                                      static_cast<std::uint64_t>(time));
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
        block, qemu_plugin_inline_add_u64, guest.instructions, static_cast<std::uint64_t>(count));
    qemu_plugin_register_vcpu_tb_exec_cond_cb(block, on_allowance_used, QEMU_PLUGIN_CB_NO_REGS,
                                              qemu_plugin_cond_ge, guest.used,
                                              GuestClock::allowance_used, nullptr);
}

void on_vcpu(qemu_plugin_id_t, unsigned vcpu) {
    the_guest->clock->attach(
        vcpu, static_cast<std::int64_t*>(qemu_plugin_scoreboard_find(the_guest->used.score, vcpu)));
    interpose_vcpu(vcpu);
}

}  // namespace
}  // namespace nw::timed

extern "C" {
[[gnu::visibility("default")]] int qemu_plugin_version = 3;

[[gnu::visibility("default")]] int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*,
                                                       int argc, char** argv) {
    using namespace nw::timed;
    the_guest = new Guest;
    if (!the_guest->configure(argc, argv)) return 1;
    the_guest->model = std::make_unique<CostModel>(the_guest->rules);
    the_guest->clock = std::make_unique<GuestClock>(
        static_cast<unsigned>(the_guest->rules.node_of_cpu.size()), the_guest->skew,
        GuestClock::Host{.real_time = host_time, .wake_main = wake_main_thread});
    // A row for each vCPU, of the size of a cache line.
    qemu_plugin_scoreboard* const words = qemu_plugin_scoreboard_new(64);
    the_guest->used = {words, 0};
    the_guest->instructions = {words, sizeof(std::uint64_t)};
    the_guest->loops.resize(the_guest->rules.node_of_cpu.size());
    interpose(*the_guest->clock);
    qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
    qemu_plugin_register_vcpu_idle_cb(
        id, [](qemu_plugin_id_t, unsigned vcpu) { note_idle(vcpu, true); });
    qemu_plugin_register_vcpu_resume_cb(
        id, [](qemu_plugin_id_t, unsigned vcpu) { note_idle(vcpu, false); });
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(
        id, [](qemu_plugin_id_t, void*) { the_guest->write(); }, nullptr);
    return 0;
}
}
