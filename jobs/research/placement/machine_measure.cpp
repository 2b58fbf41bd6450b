// SPDX-License-Identifier: Apache-2.0
#include "jobs/research/placement/machine_measure.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "util/check.hpp"

namespace nw {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t line_bytes = 64;
constexpr std::size_t chain_bytes_max = std::size_t{64} << 20;  // beyond the caches of one core
constexpr std::size_t pages_per_move = 4096;
constexpr double placed_enough = 0.99;
// The bytes that a thread reads between two checks of `over`.
constexpr std::size_t bytes_between_checks = std::size_t{1} << 20;

// Memory on one node. The cache lines at its beginning also form a chain.
class Buffer {
  public:
    Buffer(Os& os, NodeId node, std::size_t bytes, bool is_only_node) : os_(os), bytes_(bytes) {
        const auto check = [node](Status status, const char* what) {
            if (status != 0)
                throw MachineError(fmt::format("node {} cannot be measured: {}: {}", index(node),
                                               what, std::strerror(status)));
        };
        check(os.reserve(nullptr, bytes, base_), "no addresses");
        check(os.set_access(base_, bytes, Access::write), "no memory");
        for (std::size_t at = 0; at < bytes; at += page_bytes) begin()[at] = std::byte{1};
        if (!is_only_node) move_to(node, check);
        make_chain();
    }
    ~Buffer() {
        if (base_ != nullptr) os_.unreserve(base_, bytes_);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    std::byte* begin() const noexcept { return static_cast<std::byte*>(base_); }
    std::size_t bytes() const noexcept { return bytes_; }

  private:
    template <class Check>
    void move_to(NodeId node, const Check& check) {
        std::size_t placed = 0;
        for (std::size_t done = 0; done < bytes_;) {
            std::vector<void*> pages;
            for (; done < bytes_ && pages.size() < pages_per_move; done += page_bytes)
                pages.push_back(begin() + done);
            std::vector<int> statuses(pages.size());
            check(os_.move_pages(pages, node, statuses), "pages could not be moved");
            placed +=
                static_cast<std::size_t>(std::count(statuses.begin(), statuses.end(), index(node)));
        }
        if (static_cast<double>(placed * page_bytes) < placed_enough * static_cast<double>(bytes_))
            check(ENOMEM, "too few pages could be moved");
    }

    // Each line contains the index of the next line; the chain is one cycle through all lines
    // (Sattolo, "An algorithm to generate a random cyclic permutation", 1986).
    void make_chain() {
        const std::size_t lines = std::min(bytes_, chain_bytes_max) / line_bytes;
        std::vector<std::uint32_t> next(lines);
        for (std::uint32_t i = 0; i < lines; ++i) next[i] = i;
        std::mt19937_64 random(lines);
        for (std::size_t i = lines - 1; i > 0; --i) std::swap(next[i], next[random() % i]);
        for (std::size_t i = 0; i < lines; ++i)
            std::memcpy(begin() + i * line_bytes, &next[i], sizeof next[i]);
    }

    Os& os_;
    const std::size_t bytes_;
    void* base_ = nullptr;
};

// The work of one thread: it reads [begin, begin + bytes) repeatedly.
struct Reader {
    int cpu;
    const std::byte* begin;
    std::size_t bytes;
    std::size_t number;  // index of the sum to which the result is added
};

std::uint64_t sum_of(const std::byte* begin, std::size_t bytes) noexcept {
    const auto* words = reinterpret_cast<const std::uint64_t*>(begin);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bytes / sizeof *words; ++i) sum += words[i];
    return sum;
}

// Stores results, so that the compiler cannot remove their computation.
std::atomic<std::uint64_t> sink{0};

class Bench {
  public:
    Bench(Os& os, const MeasureEffort& effort) : os_(os), effort_(effort) {
        result_.nodes = os.nodes();
        std::set<int> cores;
        for (const Cpu& cpu : os.allowed_cpus())
            if (cores.insert(cpu.core).second) cpus_.push_back(cpu);
        for (const NodeId node : result_.nodes) {
            const std::size_t bytes =
                std::min<std::size_t>(effort.buffer_bytes, os.free_bytes(node) / 4) / page_bytes *
                page_bytes;
            if (bytes == 0)
                throw MachineError(
                    fmt::format("node {} cannot be measured: it has no free memory", index(node)));
            buffers_.push_back(
                std::make_unique<Buffer>(os, node, bytes, result_.nodes.size() == 1));
        }
    }

    MeasuredMachine run() {
        const std::size_t nodes = result_.nodes.size();
        const std::vector<std::vector<double>> none(nodes, std::vector<double>(nodes, 0));
        result_.bandwidth = result_.bandwidth_busy = result_.latency_ns = none;
        for (std::size_t c = 0; c < nodes; ++c) {
            for (std::size_t m = 0; m < nodes; ++m) {
                result_.bandwidth[c][m] = read(readers(c, m, 0)).front();
                result_.latency_ns[c][m] = follow_chain(c, m);
            }
        }
        for (std::size_t shift = 0; shift < nodes; ++shift) {
            std::vector<Reader> all;
            for (std::size_t c = 0; c < nodes; ++c)
                for (const Reader& reader : readers(c, (c + shift) % nodes, c))
                    all.push_back(reader);
            const std::vector<double> mb_s = read(all);
            for (std::size_t c = 0; c < nodes; ++c)
                result_.bandwidth_busy[c][(c + shift) % nodes] = mb_s[c];
        }
        for (auto* table : {&result_.bandwidth, &result_.bandwidth_busy, &result_.latency_ns})
            fill_rows_without_cpus(*table);
        return std::move(result_);
    }

  private:
    std::vector<Reader> readers(std::size_t c, std::size_t m, std::size_t number) const {
        std::vector<Reader> readers;
        for (const Cpu& cpu : cpus_)
            if (cpu.node == result_.nodes[c]) readers.push_back({cpu.number, nullptr, 0, number});
        const Buffer& buffer = *buffers_[m];
        // If the buffer has fewer lines than there are readers, only the first readers get a line.
        readers.resize(std::min(readers.size(), buffer.bytes() / line_bytes));
        const std::size_t each =
            buffer.bytes() / std::max<std::size_t>(1, readers.size()) / line_bytes * line_bytes;
        for (std::size_t i = 0; i < readers.size(); ++i) {
            readers[i].begin = buffer.begin() + i * each;
            readers[i].bytes = each;
        }
        return readers;
    }

    // Returns MB/s, summed by Reader::number.
    std::vector<double> read(const std::vector<Reader>& readers) const {
        std::vector<double> mb_s(result_.nodes.size(), 0);
        std::vector<double> of_reader(readers.size(), 0);
        std::atomic<std::size_t> ready{0};
        std::atomic<bool> over{false};
        std::atomic<Status> refused{0};
        const auto work = [&](std::size_t i) {
            const Status status = os_.bind_thread(readers[i].cpu);
            if (status != 0) refused = status;
            ++ready;
            while (ready < readers.size()) std::this_thread::yield();
            std::size_t at = 0, bytes = 0;
            const Clock::time_point start = Clock::now();
            do {
                const std::size_t some = std::min(bytes_between_checks, readers[i].bytes - at);
                sink += sum_of(readers[i].begin + at, some);
                bytes += some;
                at = (at + some) % readers[i].bytes;
            } while (!over);
            const std::chrono::duration<double, std::micro> took = Clock::now() - start;
            of_reader[i] = static_cast<double>(bytes) / took.count();
        };
        std::vector<std::jthread> threads;
        try {
            for (std::size_t i = 0; i < readers.size(); ++i) threads.emplace_back(work, i);
        } catch (...) {
            over = true;
            ready = readers.size();  // releases threads that wait for readers that failed to start
            throw;
        }
        while (ready < readers.size()) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::duration<double>(effort_.seconds));
        over = true;
        threads.clear();
        check_bound(refused);
        for (std::size_t i = 0; i < readers.size(); ++i) mb_s[readers[i].number] += of_reader[i];
        return mb_s;
    }

    double follow_chain(std::size_t c, std::size_t m) const {
        const std::vector<Reader> all = readers(c, m, 0);
        if (all.empty()) return 0;
        double ns = 0;
        Status refused = 0;
        std::jthread([&] {
            refused = os_.bind_thread(all.front().cpu);
            const std::byte* const begin = buffers_[m]->begin();
            std::uint32_t at = 0;
            const Clock::time_point start = Clock::now();
            for (std::size_t hop = 0; hop < effort_.hops; ++hop)
                std::memcpy(&at, begin + std::size_t{at} * line_bytes, sizeof at);
            const std::chrono::duration<double, std::nano> took = Clock::now() - start;
            sink += at;
            ns = took.count() / static_cast<double>(effort_.hops);
        }).join();
        check_bound(refused);
        return ns;
    }

    void check_bound(Status refused) const {
        if (refused != 0 && result_.nodes.size() > 1)
            throw MachineError(fmt::format("nodes cannot be measured: threads cannot be bound: {}",
                                           std::strerror(refused)));
    }

    static void fill_rows_without_cpus(std::vector<std::vector<double>>& table) {
        for (std::size_t c = 0; c < table.size(); ++c)
            for (std::size_t m = 0; m < table.size(); ++m)
                if (table[c][c] == 0 && m != c) table[c][m] = table[m][c];
        // The bandwidth or latency between two nodes without CPUs is unknown: the lowest value of
        // the table is used.
        double least = 0;
        for (const std::vector<double>& row : table)
            for (const double value : row)
                if (value > 0 && (least == 0 || value < least)) least = value;
        for (std::size_t c = 0; c < table.size(); ++c)
            for (std::size_t m = 0; m < table.size(); ++m)
                if (table[c][m] == 0 && m != c) table[c][m] = least;
    }

    Os& os_;
    const MeasureEffort effort_;
    MeasuredMachine result_;
    std::vector<Cpu> cpus_;  // one CPU of each core
    std::vector<std::unique_ptr<Buffer>> buffers_;
};

}  // namespace

MeasuredMachine measure_machine(Os& os, const MeasureEffort& effort) {
    try {
        return Bench(os, effort).run();
    } catch (const std::system_error& refused) {
        throw MachineError(fmt::format("nodes cannot be measured: a thread cannot be started: {}",
                                       refused.what()));
    }
}

}  // namespace nw
