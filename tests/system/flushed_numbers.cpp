// SPDX-License-Identifier: Apache-2.0
// A program that starts with denormal numbers flushed to zero, like a program that is linked with
// -ffast-math. At virtual time 0 its LPs send each other events without delay, and each LP draws a
// delay that depends on a denormal number. Tested by flushed_numbers.py.
#include <cstdint>
#include <limits>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <numawarp/model.hpp>

namespace {

constexpr std::uint32_t lps = 16;

class Process final : public nw::LogicalProcess {
  public:
    explicit Process(nw::LpId) {}

    void on_start(nw::Context& context) override { context.schedule(context.self(), 0, 0); }

    void on_event(nw::Context& context, const nw::Event&) override {
        volatile double tiny = std::numeric_limits<double>::min();
        const bool is_flushed = tiny / 2 == 0;
        const nw::LpId next{static_cast<std::uint32_t>(context.random().below(lps))};
        const bool is_early = context.now() == 0 && ++chain_ < 50;
        context.schedule(next, is_early ? 0 : is_flushed ? 2 : 1, 0);
    }

  private:
    int chain_ = 0;
};

class FlushedNumbers final : public nw::Model {
  public:
    FlushedNumbers() : Model("flushed_numbers", "meets denormal numbers, for tests") {}

    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = lps;
        setup.until = 20;
        setup.process = nw::process<Process>();
        return setup;
    }
};

}  // namespace

int main(int argc, char** argv) {
#if defined(__x86_64__)
    constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
    _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
#endif
    return nw::run<FlushedNumbers>(argc, argv);
}
