// SPDX-License-Identifier: Apache-2.0
// The meter's plug-in for QEMU. It counts the accesses of all programs in a guest by (phase, kind
// of memory, CPU, node of the page, load or store), and their misses in a model of caches and TLBs;
// on request, for each period of the event loop.
//
// Arguments, from jobs/research/meter:
//
//   out=FILE             a line for each figure is written to FILE
//   period=MILLISECONDS  length of a period of the event loop
//   cpus=N:N:…           the node of each CPU
//   memory=BYTES:…       the memory of each node
//   l1, l2, l3, tlb1, tlb2
//                        the modeled caches (jobs/research/qemu/cache_tree.hpp)
//
// Thread: the callbacks of a CPU run in the thread that emulates the CPU. Only this thread accesses
// the counts of the CPU. Requires accel=tcg,thread=multi: with one thread for all CPUs, QEMU passes
// wrong CPU numbers.

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/research/meter/plugin/kind_map.hpp"
#include "jobs/research/qemu/arguments.hpp"
#include "jobs/research/qemu/cache_tree.hpp"
#include "jobs/research/qemu/guest_memory.hpp"
#include "jobs/research/qemu/instructions.hpp"
#include "jobs/research/qemu/qemu_api.hpp"
#include "util/meter_marks.hpp"

namespace nw::meter {
namespace {

using namespace qemu;

constexpr std::size_t nodes_max = 16, cpus_max = 126, levels = cache_levels;
constexpr std::uint64_t kernel_half = std::uint64_t{1} << 47;
// The last period also contains everything later.
constexpr std::uint64_t periods_max = 200;
// Number of instructions of a CPU between two reads of the clock. So a period may begin late, by up
// to about 10 ms.
constexpr std::uint64_t instructions_a_look = 50'000;

struct Cell {
    std::uint64_t accesses = 0, misses[levels] = {};
    std::uint64_t passed = 0;  // misses of all caches that another node's caches supply
};
struct Counts {
    Cell cells[meter_phases][meter_kinds][nodes_max][2];
    std::uint64_t instructions[meter_phases] = {};
    std::uint64_t tlb_misses[meter_phases][meter_kinds][2] = {};
    std::uint64_t huge_accesses[meter_phases][meter_kinds] = {};
    std::uint64_t committed = 0, groups_moved = 0;
};

// A thread of the program, identified by its stack. Programs that have not marked a stack are
// counted in the Thread of their CPU, Cpu::own.
struct Thread {
    std::uint64_t stack = 0, stack_end = 0;
    std::uint8_t phase = 0;
    std::uint8_t depth = 0;
    std::uint64_t committed = 0;
    std::array<std::uint8_t, 8> outer{};

    bool has(std::uint64_t address) const { return address - stack < stack_end - stack; }
};

// The last access of an instruction that may access more bytes than QEMU reports at once (8 bytes
// in QEMU 7, 16 in later versions), so that QEMU reports the access in parts.
struct Part {
    std::uint64_t end = 0;  // end address; 0: no access yet
    bool is_store = false;
};
// The class of an instruction, which on_access() gets with each access.
enum class Insn : std::uintptr_t { plain, stack_pointer, wide };

struct Cpu {
    unsigned number = 0;
    std::vector<std::unique_ptr<Counts>> periods;
    Counts* counts = nullptr;  // of the current period
    std::uint64_t instructions_since_look = 0;
    Part part;
    Thread own;
    Thread* thread = &own;
    std::optional<Tlb> tlb;
    CpuCaches caches;
    qemu_plugin_register *rdi = nullptr, *rsi = nullptr;
    GByteArray* bytes = nullptr;
};

class Meter {
  public:
    static Meter* the_one;

    bool configure(int argc, char** argv);
    std::size_t cpu_count() const { return cpus_.size(); }
    Cpu& cpu(unsigned number) { return *cpus_[number]; }
    void access(Cpu& cpu, qemu_plugin_meminfo_t info, std::uint64_t address, Insn insn);
    void mark(Cpu& cpu, MeterMark mark, std::uint8_t value, std::uint64_t rdi, std::uint64_t rsi);
    bool is_counting() const { return counting_.load(std::memory_order_relaxed); }
    void look_at_clock(Cpu& cpu);
    void write() const;

  private:
    bool set(std::string_view name, const std::vector<std::uint64_t>& values);
    void make_caches();
    Thread* thread_at(std::uint64_t address);

    std::string out_;
    std::vector<unsigned> node_of_cpu_;
    GuestMemory memory_;
    CacheShapes shapes_;
    CacheTree caches_;
    std::vector<std::unique_ptr<Cpu>> cpus_;
    std::optional<Stamps> stamps_;
    std::unique_ptr<KindMap> kinds_ = std::make_unique<KindMap>();
    std::mutex threads_mutex_;
    std::vector<std::unique_ptr<Thread>> threads_;
    void note_loop();

    std::atomic<bool> counting_{false};
    std::int64_t period_ns_ = 0;               // 0: one period for the whole run
    std::atomic<std::int64_t> loop_begun_{0};  // time of the host's clock; 0: not begun
};
Meter* Meter::the_one = nullptr;

std::int64_t now_ns() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool Meter::set(std::string_view name, const std::vector<std::uint64_t>& values) {
    if (name == "period") {
        period_ns_ = values.empty() ? 0 : static_cast<std::int64_t>(values[0] * 1'000'000);
        return period_ns_ > 0;
    }
    if (name == "cpus") {
        node_of_cpu_.assign(values.begin(), values.end());
        return !values.empty() && values.size() <= cpus_max;
    }
    if (name == "memory") {
        memory_ = GuestMemory(values);
        return !values.empty() && values.size() <= nodes_max;
    }
    return shapes_.set(name, values);
}

bool Meter::configure(int argc, char** argv) {
    const bool is_set =
        for_each_argument(argc, argv, [this](std::string_view name, std::string_view text) {
            if (name != "out") return set(name, numbers(text));
            out_ = text;
            return true;
        });
    if (!is_set || out_.empty() || node_of_cpu_.empty() || memory_.nodes() == 0) return false;
    stamps_.emplace(memory_.bytes());
    make_caches();
    return true;
}

void Meter::make_caches() {
    caches_ = CacheTree(shapes_, node_of_cpu_);
    for (unsigned number = 0; number < node_of_cpu_.size(); ++number) {
        cpus_.push_back(std::make_unique<Cpu>());
        cpus_.back()->number = number;
        cpus_.back()->tlb.emplace(shapes_.tlb);
        cpus_.back()->caches = caches_.of_cpu(number);
        cpus_.back()->periods.push_back(std::make_unique<Counts>());
        cpus_.back()->counts = cpus_.back()->periods.back().get();
    }
}

Thread* Meter::thread_at(std::uint64_t address) {
    const std::lock_guard lock(threads_mutex_);
    for (const auto& thread : threads_) {
        if (thread->has(address)) return thread.get();
    }
    return nullptr;
}

void Meter::access(Cpu& cpu, qemu_plugin_meminfo_t info, std::uint64_t address, Insn insn) {
    const qemu_plugin_hwaddr* where = qemu_plugin_get_hwaddr(info, address);
    if (where == nullptr || qemu_plugin_hwaddr_is_io(where)) return;
    const std::uint64_t offset = memory_.offset_of(qemu_plugin_hwaddr_phys_addr(where));
    if (offset >= memory_.bytes()) return;
    MeterKind kind = kinds_->at(address);
    if (kind == MeterKind::stack && !cpu.thread->has(address)) {
        Thread* const other = insn == Insn::stack_pointer ? thread_at(address) : nullptr;
        if (other != nullptr)
            cpu.thread = other;
        else
            kind = MeterKind::engine;  // is on another thread's stack
    }
    const std::uint8_t phase = cpu.thread->phase;
    const auto k = static_cast<std::size_t>(kind);
    const bool is_store = qemu_plugin_mem_is_store(info);
    const std::uint64_t last = (std::uint64_t{1} << qemu_plugin_mem_size_shift(info)) - 1;
    const bool is_first =
        insn != Insn::wide || cpu.part.end != address || cpu.part.is_store != is_store;
    cpu.part = {.end = address + last + 1, .is_store = is_store};
    Counts& counts = *cpu.counts;
    Cell& cell = counts.cells[phase][k][memory_.node_of(offset)][is_store];
    cell.accesses += is_first;

    const bool is_huge = is_huge_page(address, offset);
    counts.huge_accesses[phase][k] += is_huge && is_first;
    const TlbMisses missed = cpu.tlb->look_up(address, is_huge);
    counts.tlb_misses[phase][k][0] += missed.first;
    counts.tlb_misses[phase][k][1] += missed.walk;

    // An access to two lines uses the caches for both lines if they are in one page.
    bool misses[levels] = {}, passed = false;
    for (std::uint64_t step = 0; step <= last;) {
        const std::uint64_t at = offset + step;
        if (at >> 12 != offset >> 12) break;
        const Stamp stamp = stamps_->touch(at, cpu.number, is_store);
        unsigned shift = Stamps::line_shift;
        bool is_missing = true;
        for (std::size_t level = 0; level < levels && is_missing; ++level) {
            if (cpu.caches.levels[level] == nullptr) continue;
            shift = std::min(shift, cpu.caches.levels[level]->line_shift());
            // The index of the first level is virtual: it is used before the TLB has the page.
            is_missing =
                !cpu.caches.levels[level]->look_up(level == 0 ? address + step : at, at, stamp);
            misses[level] |= is_missing;
        }
        passed |= is_missing && stamp.writer < cpus_.size() &&
                  node_of_cpu_[stamp.writer] != node_of_cpu_[cpu.number] &&
                  cpus_[stamp.writer]->caches.last->holds(at);
        const std::uint64_t line_bytes = std::uint64_t{1} << shift;
        step += line_bytes - at % line_bytes;
    }
    for (std::size_t level = 0; level < levels; ++level) cell.misses[level] += misses[level];
    cell.passed += passed;
}

void Meter::mark(Cpu& cpu, MeterMark mark, std::uint8_t value, std::uint64_t rdi,
                 std::uint64_t rsi) {
    Thread& thread = *cpu.thread;
    switch (mark) {
        case MeterMark::begin:
            counting_.store(true, std::memory_order_relaxed);
            break;
        case MeterMark::phase:
            if (value < meter_phases) thread.phase = value;
            thread.depth = 0;
            if (value >= static_cast<std::uint8_t>(MeterPhase::execute)) note_loop();
            break;
        case MeterMark::enter:
            if (thread.depth < thread.outer.size()) thread.outer[thread.depth++] = thread.phase;
            if (value < meter_phases) thread.phase = value;
            break;
        case MeterMark::leave:
            if (thread.depth > 0) thread.phase = thread.outer[--thread.depth];
            break;
        case MeterMark::memory:
            if (rdi < kernel_half && value < meter_kinds)
                kinds_->set(rdi, rsi, static_cast<MeterKind>(value));
            break;
        case MeterMark::stack: {
            if (rsi == 0 || rdi >= kernel_half) break;  // no registers
            kinds_->set(rdi, rsi, MeterKind::stack);
            const std::lock_guard lock(threads_mutex_);
            auto there = std::find_if(threads_.begin(), threads_.end(),
                                      [&](const auto& t) { return t->stack == rdi; });
            if (there == threads_.end()) there = threads_.insert(there, std::make_unique<Thread>());
            cpu.thread = there->get();
            *cpu.thread = {.stack = rdi, .stack_end = rdi + rsi};
            break;
        }
        case MeterMark::end:
            thread.phase = 0;
            thread.depth = 0;
            if (&thread != &cpu.own) {
                const std::lock_guard lock(threads_mutex_);
                thread.stack_end = thread.stack;
            }
            cpu.thread = &cpu.own;
            break;
        case MeterMark::commits:
            cpu.counts->committed += rdi - thread.committed;
            thread.committed = rdi;
            break;
        case MeterMark::moved:
            cpu.counts->groups_moved += cpu.rdi == nullptr ? 1 : rdi;
            break;
    }
}

void Meter::note_loop() {
    std::int64_t before = 0;
    if (period_ns_ != 0 && loop_begun_.load(std::memory_order_relaxed) == 0)
        loop_begun_.compare_exchange_strong(before, now_ns(), std::memory_order_relaxed);
}

void Meter::look_at_clock(Cpu& cpu) {
    cpu.instructions_since_look = 0;
    const std::int64_t begun = loop_begun_.load(std::memory_order_relaxed);
    if (begun == 0) return;
    const auto period = static_cast<std::size_t>((now_ns() - begun) / period_ns_);
    while (cpu.periods.size() <= std::min(period, periods_max - 1))
        cpu.periods.push_back(std::make_unique<Counts>());
    cpu.counts = cpu.periods.back().get();
}

void print(std::FILE* file, const char* name, std::initializer_list<std::uint64_t> values) {
    std::fputs(name, file);
    for (const std::uint64_t value : values)
        std::fprintf(file, " %llu", static_cast<unsigned long long>(value));
    std::fputc('\n', file);
}

void print(std::FILE* file, unsigned cpu, const Counts& counts) {
    for (std::size_t phase = 0; phase < meter_phases; ++phase) {
        if (counts.instructions[phase] != 0)
            print(file, "instructions", {cpu, phase, counts.instructions[phase]});
        for (std::size_t kind = 0; kind < meter_kinds; ++kind) {
            const auto& tlb = counts.tlb_misses[phase][kind];
            const std::uint64_t huge = counts.huge_accesses[phase][kind];
            if (tlb[0] != 0 || huge != 0)
                print(file, "tlb", {cpu, phase, kind, tlb[0], tlb[1], huge});
            for (std::size_t node = 0; node < nodes_max; ++node) {
                for (std::size_t store = 0; store < 2; ++store) {
                    const Cell& cell = counts.cells[phase][kind][node][store];
                    if (cell.accesses != 0)
                        print(file, "access",
                              {cpu, phase, kind, node, store, cell.accesses, cell.misses[0],
                               cell.misses[1], cell.misses[2], cell.passed});
                }
            }
        }
    }
}

void Meter::write() const {
    std::FILE* const file = std::fopen(out_.c_str(), "w");
    if (file == nullptr) return std::perror(out_.c_str());
    print(file, "version", {static_cast<std::uint64_t>(api_version())});
    for (const auto& cpu : cpus_) {
        for (std::size_t period = 0; period < cpu->periods.size(); ++period) {
            const Counts& counts = *cpu->periods[period];
            print(file, "period", {period, counts.committed, counts.groups_moved});
            print(file, cpu->number, counts);
        }
    }
    const bool is_whole = std::ferror(file) == 0;
    if (std::fclose(file) == 0 && is_whole) return;
    std::perror(out_.c_str());
    std::remove(out_.c_str());
}

// --- Callbacks ---------------------------------------------------------------------------------

void on_access(unsigned number, qemu_plugin_meminfo_t info, std::uint64_t address, void* insn) {
    Meter& meter = *Meter::the_one;
    if (meter.is_counting() && address < kernel_half)
        meter.access(meter.cpu(number), info, address,
                     static_cast<Insn>(reinterpret_cast<std::uintptr_t>(insn)));
}

void on_wide(unsigned number, void*) { Meter::the_one->cpu(number).part = {}; }

void on_block(unsigned number, void* instructions) {
    Meter& meter = *Meter::the_one;
    if (!meter.is_counting()) return;
    Cpu& cpu = meter.cpu(number);
    const auto count = reinterpret_cast<std::uintptr_t>(instructions);
    cpu.counts->instructions[cpu.thread->phase] += count;
    cpu.instructions_since_look += count;
    if (cpu.instructions_since_look > instructions_a_look) meter.look_at_clock(cpu);
}

std::uint64_t value_of(Cpu& cpu, qemu_plugin_register* handle) {
    if (handle == nullptr) return 0;
    g_byte_array_set_size(cpu.bytes, 0);
    std::uint64_t value = 0;
    qemu_plugin_read_register(handle, cpu.bytes);
    if (cpu.bytes->len == sizeof value) std::memcpy(&value, cpu.bytes->data, sizeof value);
    return value;
}

void on_mark(unsigned number, void* displacement) {
    Cpu& cpu = Meter::the_one->cpu(number);
    const auto code = reinterpret_cast<std::uintptr_t>(displacement);
    Meter::the_one->mark(cpu, static_cast<MeterMark>(code >> 8 & 0xff),
                         static_cast<std::uint8_t>(code), value_of(cpu, cpu.rdi),
                         value_of(cpu, cpu.rsi));
}

// Whether the instruction pushes or pops a register, or is a direct call or a return. These access
// only the stack of the running thread.
bool is_push_or_pop(const Code& code) {
    const unsigned char first = (code[0] & 0xf0) == 0x40 ? code[1] : code[0];
    return (first & 0xf0) == 0x50 || first == 0xe8 || first == 0xc3;
}

// Whether the instruction is one of SSE or AVX, with registers of 16 or 32 bytes.
bool is_wide(const Code& code) {
    std::size_t at = 0;
    while (at + 2 < code.size() &&
           (code[at] == 0x66 || code[at] == 0xf2 || code[at] == 0xf3 || (code[at] & 0xf0) == 0x40))
        ++at;
    const unsigned char next = code[at + 1];
    return code[at] == 0xc4 || code[at] == 0xc5 ||
           (code[at] == 0x0f && (next < 0x18 || (next >= 0x28 && next < 0x40) ||
                                 (next >= 0x50 && next < 0x80) || next >= 0xd0));
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
    const std::size_t count = qemu_plugin_tb_n_insns(block);
    if (qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0)) >= kernel_half) return;
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                         reinterpret_cast<void*>(count));
    for (std::size_t i = 0; i < count; ++i) {
        qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
        const Code code = code_of(instruction);
        if (const std::uint32_t mark = mark_of(code); mark != 0)
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_mark, QEMU_PLUGIN_CB_R_REGS,
                                                   reinterpret_cast<void*>(std::uintptr_t{mark}));
        const Insn insn = is_push_or_pop(code) ? Insn::stack_pointer
                          : is_wide(code)      ? Insn::wide
                                               : Insn::plain;
        if (insn == Insn::wide)
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_wide, QEMU_PLUGIN_CB_NO_REGS,
                                                   nullptr);
        qemu_plugin_register_vcpu_mem_cb(
            instruction, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
            reinterpret_cast<void*>(static_cast<std::uintptr_t>(insn)));
    }
}

void on_cpu(qemu_plugin_id_t, unsigned number) {
    if (qemu_plugin_get_registers == nullptr || number >= Meter::the_one->cpu_count()) return;
    Cpu& cpu = Meter::the_one->cpu(number);
    cpu.bytes = g_byte_array_new();
    GArray* const registers = qemu_plugin_get_registers();
    const std::size_t bytes = g_array_get_element_size(registers);
    for (unsigned i = 0; i < registers->len; ++i) {
        qemu_plugin_reg_descriptor one;
        std::memcpy(&one, registers->data + i * bytes, sizeof one);
        const std::string_view name = one.name;
        if (name == "rdi") cpu.rdi = one.handle;
        if (name == "rsi") cpu.rsi = one.handle;
    }
}

}  // namespace
}  // namespace nw::meter

extern "C" {
[[gnu::visibility("default")]] int qemu_plugin_version = nw::qemu::api_version();

[[gnu::visibility("default")]] int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*,
                                                       int argc, char** argv) {
    using namespace nw::meter;
    Meter::the_one = new Meter;  // never deleted
    if (!Meter::the_one->configure(argc, argv)) return 1;
    qemu_plugin_register_vcpu_init_cb(id, on_cpu);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(
        id, [](qemu_plugin_id_t, void*) { Meter::the_one->write(); }, nullptr);
    return 0;
}
}
