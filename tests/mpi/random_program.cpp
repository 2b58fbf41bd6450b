// SPDX-License-Identifier: Apache-2.0
// A random model (tests/engine/random_model.hpp) as a program with all of numawarp's options, for
// tests that kill and restart it (test_kills.py).
#include <cstdint>
#include <optional>
#include <string>

#include <numawarp/model.hpp>

#include "tests/engine/random_model.hpp"
#include "tests/engine/random_shape.hpp"

namespace nw::test {
namespace {

class RandomProgram final : public Model {
  public:
    RandomProgram() : Model("random_program", "random events, for tests") {}

    void options(Options& options) override {
        options.add("shape", seed_,
                    "the seed from which all other properties of the model are drawn");
        options.add("lps", lps_, "logical processes", from(1));
        options.add("events", events_, "approximate number of all events", from(1));
        options.add_choice("state", state_, {"containers", "small", "large", "growing"},
                           "kind of state");
        options.add("lookahead", lookahead_,
                    "added to delays to other LPs; if above 0, the model has no end condition",
                    from(0));
    }

    Setup setup() override {
        Dice dice(seed_);
        RandomShape shape = draw_shape(dice, events_);
        shape.lps = lps_;
        shape.fuel = 1 + events_ / lps_;
        shape.state = state_ == "containers" ? StateKind::containers
                      : state_ == "small"    ? StateKind::small_plain
                      : state_ == "large"    ? StateKind::large_plain
                                             : StateKind::growing;
        shape.lookahead = lookahead_;
        if (lookahead_ > 0) shape.can_end_after = 0;
        // LPs allow the end only after half of their events, so that there is something to save
        // before the end.
        if (shape.can_end_after > 0) shape.can_end_after = shape.fuel / 2;
        if (shape.until == time_infinity) shape.until = 1e6;  // usually later than all events
        model_.emplace(shape);
        return model_->setup();
    }

  private:
    std::uint64_t seed_ = 1;
    std::uint32_t lps_ = 16;
    std::uint32_t events_ = 100'000;
    std::string state_ = "containers";
    double lookahead_ = 0;
    std::optional<RandomModel> model_;
};

}  // namespace
}  // namespace nw::test

int main(int argc, char** argv) { return nw::run<nw::test::RandomProgram>(argc, argv); }
