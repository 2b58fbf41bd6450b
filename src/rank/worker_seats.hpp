// Where the workers of a rank sit, what placement wants of them while the run goes on, and what they tell
// it: bytes of mail from each to each. Placement (timewarp/placement_watch.hpp) gives orders, and each worker
// carries them out between two turns (worker/relocation.hpp): it binds itself to its new CPU and asks for
// its groups' pages, or fetches them itself.
//
// Thread: order() and fetch() one's, the rest any; a worker that sees a new number of orders sees what they
// are.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <numawarp/ids.hpp>

namespace nw {

class WorkerSeats {
  public:
    explicit WorkerSeats(const std::vector<NodeId>& nodes)
        : seats_(nodes.size()),
          bytes_(std::make_unique<std::atomic<std::uint64_t>[]>(nodes.size() * row())) {
        for (std::size_t w = 0; w < nodes.size(); ++w) seats_[w].node = nodes[w];
    }

    std::uint32_t workers() const noexcept { return static_cast<std::uint32_t>(seats_.size()); }
    NodeId node_of(std::uint32_t w) const noexcept {
        return seats_[w].node.load(std::memory_order_relaxed);
    }
    std::vector<NodeId> nodes() const {
        std::vector<NodeId> nodes;
        for (std::uint32_t w = 0; w < workers(); ++w) nodes.push_back(node_of(w));
        return nodes;
    }

    // --- Thread: placement's ---

    // Takes effect with the next fetch() or publish().
    void order(std::uint32_t w, int cpu, NodeId node) noexcept {
        seats_[w].ordered_cpu.store(cpu, std::memory_order_relaxed);
        seats_[w].ordered_node.store(node, std::memory_order_relaxed);
    }
    // pairs with the acquire in orders()
    void publish() noexcept { orders_.fetch_add(1, std::memory_order_release); }
    // Every worker is to bring its groups' pages to its node itself, now.
    void fetch() noexcept {
        fetches_.fetch_add(1, std::memory_order_relaxed);
        publish();
    }
    // The first refusal of the kernel to bind a worker anew: an errno value, 0 without one.
    int refusal() const noexcept { return refusal_.load(std::memory_order_relaxed); }

    // bytes[a][b] of mail that worker a has sent to worker b so far.
    std::vector<std::vector<double>> mail_bytes() const {
        std::vector<std::vector<double>> bytes(workers(), std::vector<double>(workers()));
        for (std::uint32_t a = 0; a < workers(); ++a)
            for (std::uint32_t b = 0; b < workers(); ++b)
                bytes[a][b] =
                    static_cast<double>(bytes_[a * row() + b].load(std::memory_order_relaxed));
        return bytes;
    }

    std::uint64_t pages_fetched() const noexcept {
        return pages_fetched_.load(std::memory_order_relaxed);
    }

    // --- Thread: worker w's ---

    std::uint32_t orders() const noexcept { return orders_.load(std::memory_order_acquire); }
    std::uint32_t fetches() const noexcept { return fetches_.load(std::memory_order_relaxed); }
    int ordered_cpu(std::uint32_t w) const noexcept {  // −1: none yet
        return seats_[w].ordered_cpu.load(std::memory_order_relaxed);
    }
    int cpu_of(std::uint32_t w) const noexcept {  // −1: where it began
        return seats_[w].cpu.load(std::memory_order_relaxed);
    }
    // The worker sits where it was ordered to.
    void take_seat(std::uint32_t w) noexcept {
        seats_[w].cpu.store(ordered_cpu(w), std::memory_order_relaxed);
        seats_[w].node.store(seats_[w].ordered_node.load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
    }
    void refuse(int error) noexcept {
        int none = 0;
        refusal_.compare_exchange_strong(none, error, std::memory_order_relaxed);
    }
    void count_fetched(std::uint64_t pages) noexcept {
        pages_fetched_.fetch_add(pages, std::memory_order_relaxed);
    }
    // Only worker `from` writes its row.
    void count_mail(std::uint32_t from, std::uint32_t to, std::size_t bytes) noexcept {
        std::atomic<std::uint64_t>& sum = bytes_[from * row() + to];
        sum.store(sum.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    }

  private:
    struct Seat {
        std::atomic<NodeId> node{NodeId{0}};
        std::atomic<int> cpu{-1};
        std::atomic<NodeId> ordered_node{NodeId{0}};
        std::atomic<int> ordered_cpu{-1};
    };

    // Rows of different workers share no cache line, wherever the table begins.
    std::size_t row() const noexcept { return (seats_.size() + 15) / 8 * 8; }

    std::vector<Seat> seats_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> bytes_;
    std::atomic<std::uint32_t> orders_{0};
    std::atomic<std::uint32_t> fetches_{0};
    std::atomic<int> refusal_{0};
    std::atomic<std::uint64_t> pages_fetched_{0};
};

}  // namespace nw
