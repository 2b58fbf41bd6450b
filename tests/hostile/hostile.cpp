// SPDX-License-Identifier: Apache-2.0
// Goal: if a handler misbehaves while events are executed out of order, this has no effect. If it
// misbehaves in order, the run ends with one line, which is the same on every engine. hostile.py
// runs this model and contains the required outcome of each kind.
//
// Method: eight LPs count together. At each whole time one of them sends the next number to LP 0
// and LP 7, which check that no number is missing. In an execution in order, no number is missing.
// If a worker runs ahead of the others, its LP detects a gap, and then misbehaves (--when
// out-of-order). With --when in-order, LP 7 misbehaves at number 50, and no other LP does.
//
// The model uses only the public interface, like a user's model.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>

#include "health.hpp"
#include "kind.hpp"

namespace hostile {
namespace {

constexpr std::uint32_t lps = 8;
constexpr nw::VirtualTime lookahead = 0.5;
constexpr nw::VirtualTime end_time = 120;
constexpr std::uint64_t fateful_number = 50;
constexpr int dear_times = 3;
constexpr nw::EventType tick = 0, count = 1, echo = 2;

const Kind* chosen = nullptr;
bool in_order = false;

// Number of times that the misbehavior happened in this process. The number is not rolled back.
std::atomic<int> times_done = 0;

bool is_chosen(Hook hook) { return chosen->hook == hook; }

void misbehave(Scene& scene) {
    const bool enough = times_done.fetch_add(1) >= dear_times;
    if (in_order || !enough || (chosen->traits & dear) == 0) chosen->act(scene);
}

std::vector<const Kind*> all_kinds() {
    std::vector<const Kind*> kinds;
    for (const auto table : {exceptions(), broken_exceptions(), floating_point(), pointers(),
                             signals(), endings(), blocks(), allocations(), containers(),
                             language(), loops(), libraries(), context_calls(), hooks()})
        for (const Kind& kind : table) kinds.push_back(&kind);
    return kinds;
}

// The state of an LP, except the objects that kinds keep.
struct State {
    std::uint64_t seen = 0;  // number of counted events
    std::uint64_t sum = 0;   // hash of the counted numbers and of the thread's health
    bool is_wrong = false;   // a number was missing
};

class Process final : public nw::PlainStateProcess<State> {
  public:
    Process(nw::LpId self, const SetUpData* data) : data_(*data), self_(nw::index(self)) {
        if (is_chosen(Hook::constructor)) misbehave_in_order(nullptr);
    }

    ~Process() override {
        if (is_chosen(Hook::destructor)) misbehave_in_order(nullptr);
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    void on_start(nw::Context& context) override {
        if (is_chosen(Hook::on_start)) misbehave_in_order(&context);
        context.schedule(context.self(), self_ + 1, tick);
    }

    void on_event(nw::Context& context, const nw::Event& event) override {
        if (self_ < lps / 2 && !in_order) dawdle();
        if (event.type() == tick) {
            const auto number = static_cast<std::uint64_t>(context.now());
            context.schedule(nw::LpId{0}, lookahead, count, number);
            context.schedule(nw::LpId{lps - 1}, lookahead, count, number);
            context.schedule(context.self(), lps, tick);
        } else if (event.type() == count) {
            count_one(context, event.payload<std::uint64_t>());
        }
    }

    bool can_end() const override {
        if (is_chosen(Hook::can_end) && state.is_wrong) {
            std::shared_ptr<void> nothing;
            Scene scene(nullptr, data_, nothing, state.seen, in_order);
            misbehave(scene);
        }
        return false;
    }

    void on_commit(const nw::Event& event) override {
        if (is_chosen(Hook::on_commit) && event.type() == count &&
            event.payload<std::uint64_t>() == fateful_number)
            misbehave_in_order(nullptr);
    }

    void on_end(nw::Context& context) override {
        if (is_chosen(Hook::on_end)) misbehave_in_order(&context);
    }

  private:
    void count_one(nw::Context& context, std::uint64_t number) {
        // Changes that were made before the fault must be undone, too.
        ++state.seen;
        state.sum = state.sum * 31 + number + health();
        const bool has_gap = number != state.seen;
        state.is_wrong =
            in_order ? self_ == lps - 1 && !has_gap && number == fateful_number : has_gap;
        Scene scene(&context, data_, kept_, state.seen, in_order);
        if (chosen->each != nullptr) chosen->each(scene);
        if (state.is_wrong && is_chosen(Hook::on_event)) misbehave(scene);
        context.schedule(nw::LpId{(self_ + 3) % lps}, lookahead, echo, state.sum + health());
    }

    void misbehave_in_order(nw::Context* context) {
        if (!in_order || self_ != lps - 1) return;
        Scene scene(context, data_, kept_, state.seen, in_order);
        misbehave(scene);
    }

    static void dawdle() {
        std::uint64_t word = 1;
        for (int i = 0; i < 4000; ++i) word = word * 6364136223846793005u + 1442695040888963407u;
        hidden(word);
    }

    const SetUpData& data_;
    std::shared_ptr<void> kept_;
    std::uint32_t self_;
};

class Hostile final : public nw::Model {
  public:
    Hostile() : Model("hostile", "a model with a chosen misbehavior, for tests") {}

    void options(nw::Options& options) override {
        std::vector<std::string> names;
        for (const Kind* kind : all_kinds()) names.emplace_back(kind->name);
        options.add_choice("do", do_, names, "the kind of misbehavior; --list describes all kinds");
        options.add_choice("when", when_, {"in-order", "out-of-order"},
                           "in-order: once, at number 50; out-of-order: at each missing number");
    }

    nw::Setup setup() override {
        for (const Kind* kind : all_kinds())
            if (kind->name == do_) chosen = kind;
        in_order = when_ == "in-order";
        data_ = std::make_unique<SetUpData>();
        data_->text = static_cast<char*>(std::calloc(64, 1));
        if (is_chosen(Hook::setup) && in_order) {
            std::shared_ptr<void> nothing;
            Scene scene(nullptr, *data_, nothing, 0, true);
            misbehave(scene);
        }
        nw::Setup setup;
        setup.lps = lps;
        setup.until = end_time;
        setup.lookahead = lookahead;
        setup.payload_bytes_max = 16;
        setup.process = nw::process<Process>(const_cast<const SetUpData*>(data_.get()));
        setup.process.has_end_condition = is_chosen(Hook::can_end);
        setup.process.has_commit = is_chosen(Hook::on_commit);
        setup.outputs = {{"rows", {"text", "number"}}};
        return setup;
    }

    void finished(const nw::RunSummary&) override {
        std::printf("done %d times\n", times_done.load());
        if (!is_chosen(Hook::finished) || !in_order) return;
        std::shared_ptr<void> nothing;
        Scene scene(nullptr, *data_, nothing, 0, true);
        misbehave(scene);
    }

  private:
    std::string do_ = "throw";
    std::string when_ = "out-of-order";
    std::unique_ptr<SetUpData> data_;
};

const char* name_of(Hook hook) {
    static constexpr const char* names[] = {"on_event",   "can_end", "on_commit",
                                            "on_start",   "on_end",  "constructor",
                                            "destructor", "setup",   "finished"};
    return names[static_cast<std::size_t>(hook)];
}

// Prints one kind per line, for hostile.py. Tabs separate the fields.
void list_kinds() {
    for (const Kind* kind : all_kinds()) {
        std::string traits;
        for (const auto& [bit, word] :
             {std::pair{keeps_heap, "keeps_heap"}, std::pair{talks, "talks"},
              std::pair{dear, "dear"}, std::pair{only_out_of_order, "only_out_of_order"},
              std::pair{writes_rows, "writes_rows"}, std::pair{leaves_behind, "leaves_behind"},
              std::pair{one_process, "one_process"}, std::pair{hurts_others, "hurts_others"}})
            if ((kind->traits & bit) != 0) traits += std::string(word) + ' ';
        std::printf("%s\t%s\t%s\t%s\t%s\n", kind->name, name_of(kind->hook), traits.c_str(),
                    kind->says != nullptr ? kind->says : "-", kind->sentence);
    }
}

}  // namespace
}  // namespace hostile

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
        hostile::list_kinds();
        return 0;
    }
    hostile::Hostile model;
    return nw::run(argc, argv, model);
}
