// SPDX-License-Identifier: Apache-2.0
// A model whose hooks count their calls, or fail. See hooks.py.
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <numawarp/model.hpp>

namespace {

// A library that allocates memory at its first use, and frees it when the program ends.
struct Lazy {
    std::string* words = nullptr;
    ~Lazy() {
        if (words == nullptr) return;
        if (*words != "words that are too long to lie in the string itself") std::abort();
        delete words;
    }
};
Lazy lazy;
bool is_lazy = false;

std::atomic<int> processes_started{0};
thread_local int worker_started = 0;

class Process final : public nw::LogicalProcess {
  public:
    explicit Process(nw::LpId) { check(); }
    void on_start(nw::Context& context) override {
        check();
        context.schedule(context.self(), 1, 0);
    }
    void on_event(nw::Context& context, const nw::Event&) override {
        check();
        if (is_lazy && context.self() == nw::LpId{0} && lazy.words == nullptr)
            lazy.words = new std::string("words that are too long to lie in the string itself");
        context.schedule(context.self(), 1, 0);
    }
    void on_end(nw::Context&) override { check(); }

  private:
    static void check() {
        if (processes_started != 1)
            throw std::logic_error("on_process_start() was not called once");
        if (worker_started == 0) throw std::logic_error("on_worker_start() was not called here");
    }
};

class Starter final : public nw::Model {
  public:
    Starter() : Model("library_starter", "starts nothing, for tests") {}

    void options(nw::Options& options) override {
        options.add_choice("fail", fail_, {"nowhere", "process", "worker"}, "the hook that fails");
        options.add_flag("lazy", is_lazy, "a library is set up in a handler");
        options.add_choice("by", by_, {"exception", "setup", "number", "crash"},
                           "the kind of failure");
    }
    void on_process_start() override {
        ++processes_started;
        if (fail_ == "process") fail();
    }
    void on_worker_start() override {
        ++worker_started;
        if (fail_ == "worker") fail();
    }
    nw::Setup setup() override {
        if (processes_started != 1) throw nw::SetupError("setup() before on_process_start()");
        nw::Setup setup;
        setup.lps = 64;
        setup.until = 20;
        setup.lookahead = 1;
        setup.process = nw::process<Process>();
        return setup;
    }

  private:
    void fail() const {
        if (by_ == "exception") throw std::runtime_error("the library is too old");
        if (by_ == "setup") throw nw::SetupError("the library is too old");
        if (by_ == "number") throw 5;
        volatile int* volatile nowhere = nullptr;
        *nowhere = 1;
    }

    std::string fail_ = "nowhere";
    std::string by_ = "exception";
};

}  // namespace

int main(int argc, char** argv) { return nw::run<Starter>(argc, argv); }
