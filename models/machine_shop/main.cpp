// SPDX-License-Identifier: Apache-2.0
// Shops with machines that break down, and one repairman each. The repairman also has other jobs,
// and interrupts them to repair a broken machine. With --share, a share of the other jobs is sent
// to shops drawn at random.
#include <numawarp/process.hpp>

constexpr std::uint32_t machines = 10;
constexpr double part_mean = 10, part_deviation = 2, failure_mean = 300, repair_time = 30;
constexpr double job_time = 30, way = 60, lag = 50;  // way: from shop to shop
enum Urgency { broken_machine = 1, other_job = 2 };

struct Shop final : nw::ProcessLp {
    const double share;
    nw::Resource repairman{env};
    bool is_broken[machines] = {};
    nw::Count parts, failures, jobs;
    nw::TimeAverage broken;

    // Every message has the delay `way`. So one event may execute everything that becomes due
    // within a duration of `lag`, and the lookahead is then way - lag.
    Shop(nw::LpId, double of_jobs) : share(of_jobs) { env.may_lag(lag); }
    void start() override {
        for (std::uint32_t i = 0; i < machines; ++i) env.start(wear(i, env.start(machine(i))));
        env.start(other_jobs());
    }
    // Makes parts. When the machine breaks down, it is repaired and then completes its part.
    nw::Process machine(std::uint32_t number) {
        for (;; parts.add(env.now())) {
            double left = std::abs(env.random().normal(part_mean, part_deviation));
            while (left > 0) {
                auto work = env.delay(left);
                if (!co_await nw::interruptible(work)) break;
                left = work.left();
                failures.add(env.now()), broken.add(env.now(), 1), is_broken[number] = true;
                auto repair = repairman.preempt(broken_machine);
                co_await repair;
                co_await env.delay(repair_time);
                is_broken[number] = false, broken.add(env.now(), -1);
            }
        }
    }
    // Breaks the machine at random times, unless it is already broken.
    nw::Process wear(std::uint32_t number, nw::Process machine) {
        for (;;) {
            co_await env.delay(env.random().exponential(failure_mean));
            if (!is_broken[number]) machine.interrupt();
        }
    }
    // The repairman's other jobs. A broken machine interrupts a job, which continues afterwards.
    nw::Process other_jobs() {
        for (double job = job_time;; jobs.add(env.now())) {
            while (job > 0) {
                auto turn = repairman.request(other_job);
                co_await turn;
                auto work = env.delay(job);
                co_await nw::interruptible(work);
                job = work.left();
            }
            if (job = job_time; !env.random().chance(share)) continue;
            env.send(env.random().lp(), way, job);
            job = co_await env.receive<double>();
        }
    }
    void finish() override {
        env.output(0, nw::index(env.self()), parts.count(), failures.count(), jobs.count());
    }
};

struct MachineShop final : nw::Model {
    std::uint32_t shops = 100;
    double share = 0;
    MachineShop() : nw::Model("machine_shop", "machines that break down, and their repairmen") {}
    void options(nw::Options& options) override {
        options.add("shops", shops, "shops, one LP each", nw::from(1));
        options.add("share", share, "share of the repairmen's other jobs that go to any shop",
                    nw::from(0).to(1));
    }
    nw::Setup setup() override {
        nw::Setup setup{.lps = shops, .until = 5000, .lookahead = way - lag};
        setup.payload_bytes_max = sizeof(double), setup.process = nw::process<Shop>(share);
        setup.outputs = {{"shops", {"shop", "parts", "failures", "jobs"}}};
        setup.measures = {nw::measure("parts", &Shop::parts),
                          nw::measure("failures", &Shop::failures),
                          nw::measure("jobs", &Shop::jobs), nw::measure("broken", &Shop::broken)};
        return setup;
    }
};

int main(int argc, char** argv) { return nw::run<MachineShop>(argc, argv); }
