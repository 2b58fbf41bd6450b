// SPDX-License-Identifier: Apache-2.0
// LPs that call every function of libc that a handler may call and that depends on more than its
// arguments (src/memory/interpose/libc_functions.txt). Each event calls one function. The next
// event contains the result, so that the digest shows whether a worker, an order of execution or a
// rollback changes the result.
//
//     libc_caller --list      prints the functions that LPs call
//     libc_caller --refused   prints the functions whose refusal test_numa checks
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include <numawarp/model.hpp>

#include "tests/support/libc_calls.hpp"

namespace {

using namespace nw::test;

// Calls the function with this number. If the result or the state belongs to the thread, this
// function waits before it reads the result, so that other workers call functions meanwhile.
std::string call(std::size_t number, unsigned which) {
    for (const auto calls : {calls_in_lp(), calls_in_platform_mode()}) {
        if (number < calls.size()) return calls[number].call(which);
        number -= calls.size();
    }
    for (const auto calls : {calls_with_thread_results(), calls_with_thread_states()}) {
        if (number < calls.size()) {
            const LibcResult result = calls[number].call(which);
            std::uint64_t waited = 0;
            for (int i = 0; i < 5'000; ++i) asm volatile("" : "+r"(waited));
            return result();
        }
        number -= calls.size();
    }
    return {};
}

std::size_t call_count() {
    return calls_in_lp().size() + calls_in_platform_mode().size() +
           calls_with_thread_results().size() + calls_with_thread_states().size();
}

std::uint64_t hash(const std::string& text) {
    std::uint64_t sum = 14'695'981'039'346'656'037U;
    for (const char letter : text)
        sum = (sum ^ static_cast<unsigned char>(letter)) * 1'099'511'628'211U;
    return sum;
}

class Caller final : public nw::LogicalProcess {
  public:
    explicit Caller(nw::LpId self) : next_(13 * nw::index(self)) {}

    void on_start(nw::Context& context) override { send(context, 0); }

    void on_event(nw::Context& context, const nw::Event& event) override {
        const auto which = static_cast<unsigned>(event.payload<std::uint64_t>() % 4);
        const std::string text = call(next_++ % call_count(), which);
        sum_ += hash(text);
        kept_.push_back(text);
        send(context, sum_);
    }

  private:
    static void send(nw::Context& context, std::uint64_t word) {
        const auto to = static_cast<std::uint32_t>(context.random().below(context.lps()));
        context.schedule(nw::LpId{to}, context.random().exponential(1.0), 0, word);
    }

    std::size_t next_;
    std::uint64_t sum_ = 0;
    std::vector<std::string> kept_;
};

class LibcCaller final : public nw::Model {
  public:
    LibcCaller() : Model("libc_caller", "calls functions of libc, for tests") {}

    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = 32;
        setup.until = 40;
        setup.payload_bytes_max = sizeof(std::uint64_t);
        setup.process = nw::process<Caller>();
        return setup;
    }
};

void print_names(const auto& calls) {
    for (const auto& one : calls) std::printf("%s\n", one.name);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
        print_names(calls_in_lp());
        print_names(calls_in_platform_mode());
        print_names(calls_with_thread_results());
        print_names(calls_with_thread_states());
        return 0;
    }
    if (argc == 2 && std::strcmp(argv[1], "--refused") == 0) {
        print_names(refused_calls());
        return 0;
    }
    return nw::run<LibcCaller>(argc, argv);
}
