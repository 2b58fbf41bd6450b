// SPDX-License-Identifier: Apache-2.0
// Models for --check-model, each of which breaks one rule; check_model.py tests the reports. Apart
// from the breach all models are equal: LPs pass on a message. The breach makes the delay of the
// message depend on something that must not influence a delay.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <pwd.h>
#include <unistd.h>

#include <numawarp/model.hpp>

int events_seen = 0;                    // "static"
thread_local int events_of_thread = 0;  // "thread-local"
int built = 0;                          // "constructor"

namespace {

constexpr std::uint32_t lps = 16;
constexpr nw::EventType message_type = 3;

struct Message {
    char text[24];
    std::uint32_t hops;
};

// Data that an LP and its model share.
struct Shared {
    std::string breach = "none";
    int counter = 0;                                            // "model"
    std::shared_ptr<int> allocated = std::make_shared<int>(0);  // "allocated"
    std::vector<void*> objects = std::vector<void*>(lps);       // "other-lp"
};

// The state of one LP. The state, and the effect of each breach on it, are the same for all three
// rollback methods.
struct State {
    std::uint64_t messages = 0;
    std::uint64_t sum = 0;
    const void* result = nullptr;  // "kept-result"
};

[[gnu::noinline]] Message partly_written(std::uint32_t hops) {
    Message message;
    std::strcpy(message.text, "hop");
    message.hops = hops;
    return message;
}

int function_with_a_table(int key) {
    // Built at the first call and never changed afterwards: this is allowed.
    static const std::map<int, int> table = [] {
        std::map<int, int> made;
        for (int i = 0; i < 8; ++i) made[i] = i * i;
        return made;
    }();
    return table.at(key % 8);
}

class Process : public nw::PlainStateProcess<State> {
  public:
    Process(nw::LpId self, Shared* shared) : shared_(shared) {
        if (is("constructor")) number_ = built++;
        if (is("constructor") && self == nw::LpId{lps - 1}) state.sum = 7;
        if (is("other-lp")) shared->objects[nw::index(self)] = this;
        if (is("kept-entry")) entry_ = std::make_unique<const void*>(getpwuid(0));
    }
    void on_start(nw::Context& c) override {
        const std::time_t epoch = 0;
        if (is("kept-result")) state.result = std::gmtime(&epoch);
        pass_on(c, 0);
    }
    void on_event(nw::Context& c, const nw::Event& event) override {
        state.messages += 1;
        state.sum +=
            static_cast<std::uint64_t>(function_with_a_table(static_cast<int>(state.messages)));
        if (is("not-in-state")) forgotten_ += 1;
        pass_on(c, event.payload<Message>().hops + 1);
    }
    void on_reverse(nw::Context&, const nw::Event&) override {
        state.sum -=
            static_cast<std::uint64_t>(function_with_a_table(static_cast<int>(state.messages)));
        if (!is("reverse")) state.messages -= 1;
    }

  private:
    bool is(const char* breach) const { return shared_->breach == breach; }

    void pass_on(nw::Context& c, std::uint32_t hops) {
        const Message message = is("payload") ? partly_written(hops) : Message{"", hops};
        const auto other = static_cast<nw::LpId>(c.random().below(c.lps()));
        // Uses 16 bits of the result of breach(). With fewer bits, two numbers of processes would
        // too often cause the same delay.
        const double extra = static_cast<double>(breach() % 65'536) / 65'536;
        c.schedule(other, 1 + c.random().exponential(1.0) + extra, message_type, message);
    }

    std::uint64_t breach() {
        if (is("static")) return static_cast<std::uint64_t>(++events_seen);
        if (is("thread-local")) return static_cast<std::uint64_t>(++events_of_thread);
        if (is("model")) return static_cast<std::uint64_t>(++shared_->counter);
        if (is("allocated")) return static_cast<std::uint64_t>(++*shared_->allocated);
        if (is("constructor")) return static_cast<std::uint64_t>(number_);
        if (is("clock")) return static_cast<std::uint64_t>(std::time(nullptr)) / 3600;
        if (is("chrono")) {
            const auto now = std::chrono::system_clock::now().time_since_epoch();
            return static_cast<std::uint64_t>(
                std::chrono::duration_cast<std::chrono::hours>(now).count());
        }
        if (is("process-id")) return static_cast<std::uint64_t>(getpid());
        if (is("entropy")) return std::random_device()();
        if (is("rand")) return static_cast<std::uint64_t>(std::rand());
        if (is("address"))
            return (reinterpret_cast<std::uintptr_t>(this) >> 12) * 0x9E3779B97F4A7C15 >> 40;
        if (is("heap")) {
            // Reads bytes that an earlier message left in this block, or bytes that were never
            // written.
            const std::unique_ptr<std::uint64_t[]> fresh(new std::uint64_t[4]);
            const volatile std::uint64_t* const read = fresh.get();
            return read[2];
        }
        if (is("overflow")) {
            const std::unique_ptr<char[]> text(new char[24]);
            volatile char* const write = text.get();
            volatile int behind = 24;  // volatile hides the overrun from the compiler
            write[behind] = 1;
        }
        if (is("other-lp")) {
            auto* const neighbor =
                static_cast<Process*>(shared_->objects[(state.messages + 1) % lps]);
            if (neighbor != this) neighbor->state.sum += 1;
        }
        return state.sum;
    }

    Shared* shared_;
    int number_ = 0;
    std::uint64_t forgotten_ = 0;
    std::unique_ptr<const void*> entry_;
};

class BrokenModels final : public nw::Model {
  public:
    BrokenModels() : Model("broken_models", "each kind of model breaks one rule, for tests") {}

    void options(nw::Options& options) override {
        options.add_choice("breach", shared_.breach,
                           {"none",        "static",  "thread-local", "model",       "allocated",
                            "constructor", "clock",   "chrono",       "process-id",  "entropy",
                            "rand",        "address", "payload",      "heap",        "overflow",
                            "other-lp",    "reverse", "not-in-state", "kept-result", "kept-entry"},
                           "the rule that is broken");
    }
    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = lps;
        setup.until = 200;
        setup.payload_bytes_max = sizeof(Message);
        setup.process = nw::process<Process>(&shared_);
        return setup;
    }

  private:
    Shared shared_;
};

}  // namespace

int main(int argc, char** argv) { return nw::run<BrokenModels>(argc, argv); }
