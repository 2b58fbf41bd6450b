// Shops with machines that make parts and break down, and one repairman each. He has other jobs, too, which
// he leaves for a broken machine. With --share a share of these jobs, when done, goes to another shop.
#include <vector>

#include <numawarp/process.hpp>

struct Parameters {
    std::uint32_t shops = 100, machines = 10;
    double part_mean = 10, failure_mean = 300, repair_time = 30, share = 0;
};
constexpr double part_deviation = 2, job_time = 30;
constexpr double way = 60, lag = 50;  // of a job to another shop; see nw::Environment::may_lag
struct Job {
    double left;
};
enum Urgency { broken_machine = 1, other_job = 2 };

struct Shop final : nw::ProcessLp {
    const Parameters* p;
    nw::Resource repairman{env};
    std::vector<bool> is_broken = std::vector<bool>(p->machines);
    std::uint64_t parts = 0, failures = 0, jobs_done = 0;

    Shop(nw::LpId, const Parameters* parameters) : p(parameters) { env.may_lag(lag); }
    void start() override {
        for (std::uint32_t i = 0; i < p->machines; ++i) env.start(wear(i, env.start(machine(i))));
        env.start(other_jobs());
    }
    nw::Process machine(std::uint32_t number) {
        for (;; ++parts) {
            double left = 0;
            while (left <= 0) left = env.random().normal(p->part_mean, part_deviation);
            for (;;) {
                const double began = env.now();
                if (!co_await nw::interruptible(env.delay(left))) break;
                left -= env.now() - began;
                is_broken[number] = true;
                auto repair = repairman.preempt(broken_machine);
                co_await repair;
                co_await env.delay(p->repair_time);
                is_broken[number] = false;
            }
        }
    }
    nw::Process wear(std::uint32_t number, nw::Process machine) {
        for (;;) {
            co_await env.delay(env.random().exponential(p->failure_mean));
            if (is_broken[number]) continue;
            failures += 1;
            machine.interrupt();
        }
    }
    nw::Process other_jobs() {
        for (Job job{job_time};; ++jobs_done) {
            while (job.left > 0) {
                auto turn = repairman.request(other_job);
                co_await turn;
                const double began = env.now();
                const auto preempted = co_await nw::interruptible(env.delay(job.left));
                job.left = preempted ? job.left - (env.now() - began) : 0;
            }
            job = {job_time};
            if (!env.random().chance(p->share)) continue;
            env.send(static_cast<nw::LpId>(env.random().below(p->shops)), way, job);
            job = co_await env.receive<Job>();
        }
    }
    void finish() override { env.output(0, nw::index(env.self()), parts, failures, jobs_done); }
};

struct MachineShop final : nw::Model {
    Parameters p;
    MachineShop() : nw::Model("machine_shop", "machines that break down, and their repairmen") {}
    void options(nw::Options& options) override {
        options.add("shops", p.shops, "shops, one LP each", nw::from(1));
        options.add("machines", p.machines, "machines of a shop", nw::from(1));
        options.add("part-mean", p.part_mean, "mean time that a part takes", nw::above(0));
        options.add("failure-mean", p.failure_mean, "mean time between failures", nw::above(0));
        options.add("repair-time", p.repair_time, "time of a repair", nw::above(0));
        options.add("share", p.share, "share of those that go to any shop", nw::from(0).to(1));
    }
    nw::Setup setup() override {
        nw::Setup setup{.lps = p.shops,
                        .until = 5000,
                        .lookahead = way - lag,
                        .payload_bytes_max = sizeof(Job),
                        .process = nw::process<Shop>(&p)};
        setup.outputs = {{"shops", {"shop", "parts", "failures", "jobs"}}};
        return setup;
    }
};

int main(int argc, char** argv) {
    MachineShop model;
    return nw::run(argc, argv, model);
}
