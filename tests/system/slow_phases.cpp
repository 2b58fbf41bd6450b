// SPDX-License-Identifier: Apache-2.0
// A model with one phase that takes minutes: a tenth of a second for each LP. It writes a line to
// standard error when that phase begins. stop_in_phases.py sends a stop signal in each phase. With
// `cycle` each event schedules another event with zero delay (standing_time.py).
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <unistd.h>

#include <numawarp/model.hpp>

namespace {

class Process final : public nw::LogicalProcess {
  public:
    Process(nw::LpId, const std::string* slow) : slow_(slow) { pass("constructor"); }
    ~Process() override { pass("destructor"); }
    void on_start(nw::Context& context) override {
        pass("on_start");
        context.schedule(context.self(), 1, 0);
    }
    void on_event(nw::Context& context, const nw::Event&) override {
        pass("on_event");
        context.schedule(context.self(), *slow_ == "cycle" ? 0 : 1, 0);
    }
    void on_end(nw::Context&) override { pass("on_end"); }

  private:
    void pass(const char* phase) const {
        if (*slow_ != phase) return;
        static std::atomic<bool> is_said = false;
        if (!is_said.exchange(true) && write(STDERR_FILENO, "slow\n", 5) < 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }

    const std::string* slow_;
};

class SlowPhases final : public nw::Model {
  public:
    SlowPhases() : Model("slow_phases", "one phase takes minutes") {}
    void options(nw::Options& options) override {
        options.add("slow", slow_,
                    "constructor, on_start, on_event, on_end or destructor; or cycle");
    }
    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = 3000;
        setup.until = 3;
        setup.lookahead = 0.5;
        setup.process = nw::process<Process>(&slow_);
        return setup;
    }

  private:
    std::string slow_ = "none";
};

}  // namespace

int main(int argc, char** argv) { return nw::run<SlowPhases>(argc, argv); }
