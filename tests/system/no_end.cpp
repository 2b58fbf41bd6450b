// SPDX-License-Identifier: Apache-2.0
// A model without an end time: the run ends when every LP has counted far enough (can_end()).
// progress.py tests the progress line of a run whose remaining work is unknown.
#include <cstdint>

#include <numawarp/model.hpp>

namespace {

class Process final : public nw::LogicalProcess {
  public:
    Process(nw::LpId, const std::uint64_t* goal) : goal_(goal) {}

    void on_start(nw::Context& context) override { context.schedule(context.self(), 1, 0); }

    void on_event(nw::Context& context, const nw::Event&) override {
        ++count_;
        context.schedule(context.self(), 1, 0);
    }

    bool can_end() const override { return count_ >= *goal_; }

  private:
    const std::uint64_t* goal_;
    std::uint64_t count_ = 0;
};

class NoEnd final : public nw::Model {
  public:
    NoEnd() : Model("no_end", "counts, for tests") {}

    void options(nw::Options& options) override {
        options.add("goal", goal_, "events of each LP after which the run may end");
    }

    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = 64;
        setup.process = nw::process<Process>(const_cast<const std::uint64_t*>(&goal_));
        return setup;
    }

  private:
    std::uint64_t goal_ = 1000;
};

}  // namespace

int main(int argc, char** argv) { return nw::run<NoEnd>(argc, argv); }
