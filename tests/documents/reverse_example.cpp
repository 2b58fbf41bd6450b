// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>
#include <numawarp/model.hpp>

// A till in a shop. Customers go from till to till. A customer who would wait too long leaves.
struct Till final : nw::LogicalProcess {
    double free_at = 0;  // when the last customer in line will have paid
    std::uint64_t turned_away = 0;
    std::uint64_t waits[8] = {};  // customers by how long they waited

    explicit Till(nw::LpId) {}

    void on_start(nw::Context& c) override {
        for (int i = 0; i < 4; ++i) send_customer(c, c.random().exponential(1.0));
    }

    void on_event(nw::Context& c, const nw::Event&) override {
        c.control() = std::bit_cast<std::uint64_t>(free_at);  // is overwritten below
        const double wait = wait_at(c.now());
        const double service = c.random().exponential(1.0);
        if (wait > 4) {
            ++turned_away;
        } else {
            ++waits[static_cast<int>(wait)];
            free_at = c.now() + wait + service;
        }
        send_customer(c, wait + service);
    }

    void on_reverse(nw::Context& c, const nw::Event&) override {
        free_at = std::bit_cast<double>(c.control());
        // free_at is now as on_event found it. So the same decision can be taken again.
        const double wait = wait_at(c.now());
        if (wait > 4)
            --turned_away;
        else
            --waits[static_cast<int>(wait)];
    }

    void on_end(nw::Context& c) override { c.output(0, turned_away, waits[0]); }

  private:
    double wait_at(double now) const { return std::max(free_at - now, 0.0); }

    void send_customer(nw::Context& c, double delay) {
        const auto till = static_cast<nw::LpId>(c.random().below(c.lps()));
        c.schedule(till, delay, 0);
    }
};

struct Shop final : nw::Model {
    Shop() : nw::Model("shop", "customers and tills, with a reverse handler") {}
    nw::Setup setup() override {
        return {.lps = 64,
                .until = 1000,
                .process = nw::process<Till>(),
                .preferred_rollback = nw::Rollback::reverse,
                .outputs = {{"tills", {"turned_away", "served_at_once"}}}};
    }
};

int main(int argc, char** argv) { return nw::run<Shop>(argc, argv); }
