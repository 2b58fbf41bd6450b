// SPDX-License-Identifier: Apache-2.0
// Models with large states, to measure the cost of allocating, saving and restoring them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <numawarp/model.hpp>

namespace nw::bench {

// One LP that allocates one block per event, and keeps all blocks.
struct Hoarder final : LogicalProcess {
    explicit Hoarder(LpId, std::size_t block_bytes) : block_bytes_(block_bytes) {}
    void on_start(Context& c) override { c.schedule(c.self(), 1, 0); }
    void on_event(Context& c, const Event&) override {
        blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_bytes_));
        c.schedule(c.self(), 1, 0);
    }

  private:
    std::size_t block_bytes_;
    std::vector<std::unique_ptr<char[]>> blocks_;
};

struct Hoard final : Model {
    Hoard(std::size_t block_count, std::size_t block_bytes)
        : Model("hoard", "one LP that allocates"), count(block_count), bytes(block_bytes) {}
    Setup setup() override {
        return {.lps = 1,
                .until = static_cast<double>(count),
                .process = process<Hoarder>(bytes),
                .preferred_rollback = Rollback::snapshot};
    }
    std::size_t count, bytes;
};

struct Table {
    std::size_t bytes = std::size_t{1} << 20;  // of an LP's state
    std::size_t used_bytes = bytes;            // from its beginning; the rest is never touched
    std::size_t touched_bytes = 4096;          // by an event, at a random place
    double remote = 0.1;
};

// An LP with a table; an event changes a part of it. Otherwise PHOLD, with one event per LP.
struct TableProcess final : LogicalProcess {
    TableProcess(LpId, const Table* shape)
        : shape_(shape),
          words_(std::make_unique_for_overwrite<std::uint64_t[]>(shape->bytes / word_bytes)) {}
    void on_start(Context& c) override { send(c, c.self()); }
    void on_event(Context& c, const Event& event) override {
        const std::size_t touched = shape_->touched_bytes / word_bytes;
        const std::size_t places = shape_->used_bytes / shape_->touched_bytes;
        std::uint64_t* const words = &words_[c.random().below(places) * touched];
        for (std::size_t i = 0; i < touched; ++i)
            words[i] += static_cast<std::uint64_t>(event.time() * 1000) + i;
        const bool stays = !c.random().chance(shape_->remote);
        send(c, stays ? c.self() : static_cast<LpId>(c.random().below(c.lps())));
    }

  private:
    static constexpr std::size_t word_bytes = sizeof(std::uint64_t);

    static void send(Context& c, LpId target) {
        c.schedule(target, 0.1 + c.random().exponential(0.9), 0);
    }

    const Table* shape_;
    std::unique_ptr<std::uint64_t[]> words_;
};

struct Tables final : Model {
    Tables(std::uint32_t lp_count, double end, Table table)
        : Model("tables", "LPs with large states"), lps(lp_count), until(end), shape(table) {}
    Setup setup() override {
        return {.lps = lps,
                .until = until,
                .lookahead = 0.1,
                .process = process<TableProcess>(&shape),
                .preferred_rollback = Rollback::snapshot};
    }
    std::uint32_t lps;
    double until;
    Table shape;
};

}  // namespace nw::bench
