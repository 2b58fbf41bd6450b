// SPDX-License-Identifier: Apache-2.0
// A ring of 100 stations. Every tenth station has a token; each station passes a token on after a
// random delay, and stores the times at which tokens arrived.
#include <vector>

#include <numawarp/model.hpp>

class Station : public nw::LogicalProcess {
  public:
    explicit Station(nw::LpId self) : starts_(nw::index(self) % 10 == 0) {}

    void on_start(nw::Context& c) override {
        if (starts_) c.schedule(c.self(), 0, 0);
    }
    void on_event(nw::Context& c, const nw::Event&) override {
        passed_.push_back(c.now());
        const nw::LpId next{(nw::index(c.self()) + 1) % c.lps()};
        c.schedule(next, c.random().exponential(1.0), 0);
    }

  private:
    bool starts_;
    std::vector<double> passed_;
};

class Ring : public nw::Model {
  public:
    Ring() : Model("ring", "tokens that travel around a ring") {}
    nw::Setup setup() override {
        nw::Setup s;
        s.lps = 100;
        s.until = 1000;
        s.process = nw::process<Station>();
        return s;
    }
};

int main(int argc, char** argv) { return nw::run<Ring>(argc, argv); }
