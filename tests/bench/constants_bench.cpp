// SPDX-License-Identifier: Apache-2.0
// Measures single parts of the engine for tests/bench/constants.py. That script runs this program
// with other values of a constant and compares the results. The program prints one JSON object of
// figures. Figures whose names end in _ns are CPU time on this machine. faults_a_use and
// faults_an_era are page faults of this process, which the kernel has counted. All other figures
// are the same in every run.
//
//     stepped    PHOLD with one simulated core per worker. One thread simulates all cores and
//                their clock (tests/engine/crowded_machine.hpp), so the figures are the same on
//                any machine
//     rows       rows of output from two workers through OutputWriter
//     scratch    a large buffer of a handler, which is allocated, written and freed repeatedly
//     growth     a group that grows in the region: number of calls for access to pages
//     mail       a bottom half with occasional bursts
//     unit       costs of single steps on this machine
//
//     constants_bench SECTION [NAME=VALUE...]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "event/bottom_half.hpp"
#include "lp/group.hpp"
#include "memory/heap/group_memory.hpp"
#include "memory/heap/lp_heap.hpp"
#include "memory/region/memory_source.hpp"
#include "memory/region/segments.hpp"
#include "models/phold/phold.hpp"
#include "results/output/output_writer.hpp"
#include "tests/engine/crowded_machine.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/new_lp_heap.hpp"
#include "tests/support/set_options.hpp"
#include "util/locks.hpp"

namespace nw::bench {
namespace {

using std::chrono::nanoseconds;

// Words of the form NAME=VALUE. `otherwise` is the value of a name that is not among the words.
class Arguments {
  public:
    Arguments(int count, char** words) {
        for (int i = 0; i < count; ++i) {
            const std::string word = words[i];
            const std::size_t at = word.find('=');
            if (at == std::string::npos) throw std::runtime_error(word + ": not NAME=VALUE");
            values_[word.substr(0, at)] = word.substr(at + 1);
        }
    }
    double number(const std::string& name, double otherwise) const {
        const auto found = values_.find(name);
        return found != values_.end() ? std::stod(found->second) : otherwise;
    }
    std::uint64_t count(const std::string& name, std::uint64_t otherwise) const {
        return static_cast<std::uint64_t>(number(name, static_cast<double>(otherwise)));
    }

  private:
    std::map<std::string, std::string> values_;
};

// CPU time of this thread, in ns. It does not contain the time of other threads and programs.
double cpu_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

std::uint64_t faults() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<std::uint64_t>(used.ru_minflt);
}

// --- stepped -------------------------------------------------------------------------------------

nlohmann::json stepped(const Arguments& given) {
    phold::Model model;
    test::set_options(model, {{"lps", std::to_string(given.count("lps", 1024))},
                              {"events-per-lp", std::to_string(given.count("events", 4))},
                              {"remote", fmt::format("{}", given.number("remote", 0.25))},
                              {"lookahead", fmt::format("{}", given.number("lookahead", 0.1))},
                              {"state", "16"}});
    const Setup setup = model.setup();
    Config config;
    config.engine = EngineKind::timewarp;
    config.workers = static_cast<std::uint32_t>(given.count("workers", 8));
    config.until = given.number("until", 100);
    config.rebind_seconds = 0;
    config.state_saving_interval = 1;
    test::SteppedRun run(setup, config, {.workers = config.workers, .weather = {0, 0, 0}}, 1);
    run.set_up();
    // Costs of a worker's steps: derived by hand from docs/results/cost-model-2026-11-21.md.
    test::CrowdedMachine machine(run,
                                 {.cores = config.workers,
                                  .foreign = static_cast<std::uint32_t>(given.count("foreign", 0)),
                                  .slice = std::chrono::microseconds(given.count("slice_us", 3000)),
                                  .execute = nanoseconds(65),
                                  .undo = nanoseconds(50),
                                  .commit = nanoseconds(33),
                                  .cross = nanoseconds(60),
                                  .turn = nanoseconds(50)});
    machine.play_to_end();

    const Counters sum = run.counters();
    const auto ns = static_cast<double>(machine.now().count());
    const auto committed = static_cast<double>(sum[Counter::committed_events]);
    return {
        {"virtual_ns_an_event", ns / committed},
        {"executed_by_committed", static_cast<double>(sum[Counter::executed_events]) / committed},
        {"gvt_rounds", sum[Counter::gvt_rounds]},
        {"round_us", ns / 1000 / static_cast<double>(sum[Counter::gvt_rounds])},
        {"uncommitted_peak", machine.uncommitted_peak()},
        {"digest", run.digest()}};
}

// --- rows ----------------------------------------------------------------------------------------

struct CountingSink final : RowSink {
    void write(const OutputRow& row) override {
        sum += static_cast<double>(rows++ & 255) * row.key.time;
    }
    std::uint64_t rows = 0;
    double sum = 0;
};

nlohmann::json rows(const Arguments& given) {
    const std::uint64_t total = given.count("rows", 200'000);
    const std::uint64_t a_round = given.count("a_round", 64);
    CountingSink sink;
    OutputWriter writer(&sink, 2);
    std::mt19937_64 random(1);
    std::vector<OutputRow> mine;
    const double start = cpu_ns();
    for (std::uint64_t made = 0, round = 0; made < total; ++round) {
        for (std::uint32_t worker = 0; worker < 2; ++worker) {
            for (std::uint64_t i = 0; i < a_round / 2; ++i, ++made) {
                const double time = static_cast<double>(round) + 0x1p-64 * double(random());
                mine.push_back({{time, 0, worker, 0}, 0, std::vector<std::byte>(32)});
            }
            writer.hand_over(worker, mine, static_cast<double>(round + 1));
        }
    }
    writer.finish();
    return {{"row_ns", (cpu_ns() - start) / static_cast<double>(sink.rows)},
            {"row_bytes", sizeof(OutputRow) + 32 + 16}};
}

// --- scratch -------------------------------------------------------------------------------------

nlohmann::json scratch(const Arguments& given) {
    const std::size_t bytes = given.count("bytes", 1 << 20);
    const std::uint64_t uses = given.count("uses", 400);
    MemorySource source(linux_os(), MemoryMode::numa, 4);
    GroupMemory group(source, GroupId{1});
    LpHeap& heap = test::new_lp_heap(group);
    const auto use = [&] {
        auto* const buffer = static_cast<std::byte*>(heap.allocate(bytes));
        if (buffer == nullptr) throw std::bad_alloc();
        std::memset(buffer, 1, bytes);
        if (heap.free(buffer) != HeapFault::none) throw std::runtime_error("not freed");
    };
    use();
    const std::uint64_t faults_before = faults();
    const double start = cpu_ns();
    for (std::uint64_t i = 0; i < uses; ++i) use();
    return {{"use_ns", (cpu_ns() - start) / static_cast<double>(uses)},
            {"faults_a_use",
             static_cast<double>(faults() - faults_before) / static_cast<double>(uses)}};
}

// --- growth --------------------------------------------------------------------------------------

nlohmann::json growth(const Arguments& given) {
    const std::size_t end = given.count("bytes", 1 << 26);
    FakeOs os(1, 1);
    MemorySource source(os, MemoryMode::numa,
                        static_cast<std::uint32_t>(given.count("groups", 4096)));
    SegmentTable table(source, GroupId{1});
    const std::size_t before = os.count(FakeOs::Call::set_access);
    const auto opened = [&os] {
        std::size_t bytes = 0;
        for (const auto& record : os.records())
            if (record.call == FakeOs::Call::set_access && record.argument != 0)
                bytes += record.bytes;
        return bytes;
    };
    const std::size_t at_first = opened();
    for (std::size_t taken = 0; taken < end; taken += span_bytes)
        if (table.allocate_segment(span_bytes, SegmentKind::state) == nullptr)
            throw std::bad_alloc();
    return {{"calls", os.count(FakeOs::Call::set_access) - before},
            {"opened_at_first", at_first},
            {"opened_by_used", static_cast<double>(opened()) / static_cast<double>(end)}};
}

// --- mail ----------------------------------------------------------------------------------------

nlohmann::json mail(const Arguments& given) {
    const std::vector<std::byte> burst(given.count("burst", 1 << 18)),
        usual(given.count("usual", 4096));
    const std::uint64_t period = given.count("period", 1025), eras = given.count("eras", 20'000);
    if (eras <= 2 * period)
        throw std::runtime_error("eras is too small; allowed: more than 2 * period");
    MemorySource source(linux_os(), MemoryMode::numa, 4);
    GroupMemory group(source, GroupId{1});
    ReadyList ready;
    BottomHalf mail(1, group.mail());
    std::uint64_t faults_before = 0;
    double start = cpu_ns();
    for (std::uint64_t era = 0; era < eras; ++era) {
        if (era == 2 * period) {
            faults_before = faults();
            start = cpu_ns();
        }
        const std::vector<std::byte>& bytes = era / 2 % period == 0 ? burst : usual;
        mail.push(bytes.data(), bytes.size(), ready);
        ready.take_all();
        mail.drain();
    }
    const auto measured = static_cast<double>(eras - 2 * period);
    return {{"era_ns", (cpu_ns() - start) / measured},
            {"faults_an_era", static_cast<double>(faults() - faults_before) / measured}};
}

// --- unit ----------------------------------------------------------------------------------------

// The least of 25 repetitions, because a busy machine only adds time.
double least_ns(int times, const std::function<void()>& step) {
    double least = 1e300;
    for (int repetition = 0; repetition < 25; ++repetition) {
        const double start = cpu_ns();
        for (int i = 0; i < times; ++i) step();
        least = std::min(least, (cpu_ns() - start) / times);
    }
    return least;
}

nlohmann::json unit(const Arguments&) {
    MemorySource source(linux_os(), MemoryMode::numa, 4096);
    std::vector<std::unique_ptr<GroupMemory>> groups;
    std::vector<std::unique_ptr<BottomHalf>> mails;
    for (std::uint32_t g = 0; g < 4096; ++g) {
        groups.push_back(std::make_unique<GroupMemory>(source, GroupId{g}));
        mails.push_back(std::make_unique<BottomHalf>(g, groups.back()->mail()));
    }
    nlohmann::json found;
    found["pause_ns"] = least_ns(1000, [] { spin_pause(); });
    found["yield_ns"] = least_ns(1000, [] { std::this_thread::yield(); });
    std::size_t at = 0;
    found["calm_mail_visit_ns"] = least_ns(4096, [&] { mails[at++ % mails.size()]->trim(); });
    // Pages of an era with 4 KiB are released by the second trim() after the era.
    const std::vector<std::byte> bytes(4096);
    ReadyList ready;
    double trim_ns = 1e300;
    for (int repetition = 0; repetition < 5; ++repetition) {
        for (const auto& mail : mails) {
            for (int era = 0; era < 2; ++era) {
                mail->push(bytes.data(), bytes.size(), ready);
                ready.take_all();
                mail->drain();
            }
            mail->trim();
        }
        const double start = cpu_ns();
        for (const auto& mail : mails) mail->trim();
        trim_ns = std::min(trim_ns, (cpu_ns() - start) / static_cast<double>(mails.size()));
    }
    found["mail_trim_ns"] = trim_ns;
    const std::span<std::byte> area = groups[1]->mail().area(MailBufferId::a, MailArea::small);
    found["page_fault_and_discard_ns"] = least_ns(200, [&] {
        area[0] = std::byte{1};
        source.os().discard(area.data(), page_bytes);
    });
    return found;
}

int main_of(int argc, char** argv) {
    const std::map<std::string, nlohmann::json (*)(const Arguments&)> sections = {
        {"stepped", stepped}, {"rows", rows}, {"scratch", scratch},
        {"growth", growth},   {"mail", mail}, {"unit", unit}};
    const auto section = argc > 1 ? sections.find(argv[1]) : sections.end();
    if (section == sections.end()) {
        fmt::print(stderr, "usage: constants_bench SECTION [NAME=VALUE...]\n");
        return 2;
    }
    fmt::print("{}\n", section->second(Arguments(argc - 2, argv + 2)).dump());
    return 0;
}

}  // namespace
}  // namespace nw::bench

int main(int argc, char** argv) { return nw::bench::main_of(argc, argv); }
