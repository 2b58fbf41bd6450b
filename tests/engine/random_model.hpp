// SPDX-License-Identifier: Apache-2.0
// A model without meaning. It shows whether an engine loses or changes a state or an event.
//
// An event carries fuel. An LP that receives an event uses one unit of the fuel, changes its state,
// and distributes the rest of the fuel over one or several new events. So the number of events is
// equal to the amount of fuel at the start, and does not depend on the random numbers. A hash of
// the state goes into the payloads, so that an error in the state very probably changes the digest.
// The rows of on_end() contain a hash of the complete state.
//
// There are three classes of LP. One contains containers, strings, nodes and large blocks. One
// contains a vector. Both are restored from snapshots. The third class contains a plain struct. A
// copy can also restore this state, and the class can reverse its events.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include "tests/engine/random_shape.hpp"

namespace nw::test {

// Finalizer of splitmix64 (Steele, Lea, Flood, 2014): every bit of the sum affects every bit of the
// result.
inline std::uint64_t fold(std::uint64_t word, std::uint64_t more) noexcept {
    std::uint64_t x = word * 3 + more + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

inline std::uint64_t fold_bytes(std::uint64_t word, const void* bytes, std::size_t size) noexcept {
    const auto* at = static_cast<const unsigned char*>(bytes);
    for (std::size_t left = size; left > 0;) {
        const std::size_t now = std::min<std::size_t>(left, 8);
        std::uint64_t next = 0;
        std::memcpy(&next, at, now);
        word = fold(word, next);
        at += now;
        left -= now;
    }
    return fold(word, size);
}

// Number and hash of the events that on_commit() received. The order of the events does not change
// the hash. Thread: any.
struct CommitLog {
    std::atomic<std::uint64_t> events{0};
    std::atomic<std::uint64_t> sum{0};

    void add(const Event& event) noexcept {
        std::uint64_t word = fold(std::bit_cast<std::uint64_t>(event.time()), event.type());
        word = fold_bytes(word, event.bytes().data(), event.bytes().size());
        events.fetch_add(1, std::memory_order_relaxed);
        sum.fetch_add(word, std::memory_order_relaxed);
    }
};

// The payload of an event. An empty payload means one unit of fuel and no word.
struct Cargo {
    std::uint32_t fuel = 1;
    std::uint32_t reserved = 0;
    std::uint64_t word = 0;

    static Cargo of(const Event& event) noexcept {
        return event.bytes().empty() ? Cargo{} : event.payload<Cargo>();
    }
};

// Sends events with `fuel` units in total. The payloads contain a hash of `word`.
class Spreader {
  public:
    explicit Spreader(const RandomShape& shape) : shape_(shape) {}

    void spread(Context& context, std::uint32_t fuel, std::uint64_t word) const {
        Random& random = context.random();
        std::uint64_t children =
            random.chance(shape_.burst) ? 1 + random.below(6) : 1 + random.below(2);
        for (; fuel > 0; --children) {
            const std::uint32_t share =
                children <= 1 ? fuel : 1 + static_cast<std::uint32_t>(random.below(fuel));
            send(context, share, fold(word, fuel));
            fuel -= share;
        }
    }

  private:
    void send(Context& context, std::uint32_t fuel, std::uint64_t word) const {
        Random& random = context.random();
        const LpId target = choose_target(context);
        VirtualTime delay = choose_delay(random);
        if (target != context.self()) delay += shape_.lookahead;
        const auto type = static_cast<EventType>(random.below(5));
        const Priority priority{
            static_cast<std::uint16_t>(shape_.priorities ? word % 3 * (priority_max / 2) : 0)};
        if (fuel == 1 && random.chance(0.3)) {
            context.schedule(target, delay, type, priority);
            return;
        }
        std::array<std::byte, 4096> message;
        const std::size_t bytes =
            sizeof(Cargo) + random.below(shape_.payload_bytes_max - sizeof(Cargo) + 1);
        const Cargo cargo{fuel, 0, word};
        std::memcpy(message.data(), &cargo, sizeof cargo);
        for (std::size_t i = sizeof cargo; i < bytes; ++i)
            message[i] = static_cast<std::byte>(word >> (i % 8 * 8));
        context.schedule_bytes(target, delay, type, std::span(message.data(), bytes), priority);
    }

    LpId choose_target(Context& context) const {
        Random& random = context.random();
        const std::uint32_t self = index(context.self());
        const double dice = random.uniform();
        if (dice < shape_.to_self) return context.self();
        if (dice < shape_.to_self + shape_.to_neighbor)
            return LpId{(self + 1 + static_cast<std::uint32_t>(random.below(2))) % shape_.lps};
        if (random.chance(shape_.hot_spot)) return LpId{0};
        return LpId{static_cast<std::uint32_t>(random.below(shape_.lps))};
    }

    VirtualTime choose_delay(Random& random) const {
        if (random.uniform() < shape_.zero_delay) return 0;
        if (random.uniform_positive() <= shape_.lattice)
            return shape_.grain * static_cast<double>(1 + random.below(4));
        switch (random.below(4)) {
            case 0:
                return random.exponential(0.5);
            case 1:
                return random.erlang(3, 0.5);
            case 2:
                return std::abs(random.normal(0.5, 0.2));
            default:
                return static_cast<double>(random.bits() >> 60) / 8;
        }
    }

    const RandomShape& shape_;
};

// Makes the handlers of slow LPs take some microseconds longer, so that workers drift apart.
inline void dawdle(const RandomShape& shape, LpId self) noexcept {
    if (shape.slow_lps == 0 || index(self) % shape.slow_lps != 0) return;
    std::uint64_t word = index(self);
    for (int i = 0; i < 2000; ++i) word = fold(word, 1);
    static std::atomic<std::uint64_t> sink;  // so that the compiler keeps the loop
    if (word == 0) sink.store(word, std::memory_order_relaxed);
}

inline void start_lp(Context& context, const Spreader& spreader, std::uint32_t fuel) {
    spreader.spread(context, fuel, index(context.self()));
}

// Some events write two rows. The order of these rows must not change.
inline void write_row(Context& context, const Event& event, std::uint64_t word) {
    context.output(0, index(context.self()), context.now(), event.type(), std::to_string(word));
    if (word % 4 == 0)
        context.output(0, index(context.self()), context.now(), event.type(), std::string("again"));
}

// --- State in containers -------------------------------------------------------------------------

class ContainerProcess final : public LogicalProcess {
  public:
    ContainerProcess(LpId, const RandomShape* shape, CommitLog* log)
        : shape_(*shape), spreader_(*shape), log_(*log) {
        for (int i = 0; i < 3; ++i) names_[static_cast<std::uint32_t>(i)] = "built";
    }
    ~ContainerProcess() override {
        while (top_ != nullptr) drop_node();
        std::free(buffer_);
    }

    void on_start(Context& context) override { start_lp(context, spreader_, shape_.fuel); }

    void on_event(Context& context, const Event& event) override {
        const Cargo cargo = Cargo::of(event);
        word_ = fold(word_, cargo.word);
        word_ = fold_bytes(word_, event.bytes().data(), event.bytes().size());
        ++events_;
        for (std::uint64_t changes = context.random().below(4); changes > 0; --changes)
            change(context.random());
        look(context.random());
        measure(context);
        dawdle(shape_, context.self());
        if (context.random().chance(shape_.rows)) write_row(context, event, word_);
        spreader_.spread(context, cargo.fuel - 1, word_);
    }

    void on_commit(const Event& event) override { log_.add(event); }
    bool can_end() const override { return events_ >= shape_.can_end_after && word_ % 3 != 0; }
    void on_end(Context& context) override {
        context.output(1, index(context.self()), context.now(), events_,
                       std::to_string(hash_of_everything()));
    }

  private:
    void measure(Context& context) {
        words.record(context.now(), static_cast<double>(word_ % 1000) - 100);
        size.set(context.now(), static_cast<double>(numbers_.size()));
        fuels.record(context.now(), static_cast<double>(word_ % 300) / 100);
        if (word_ % 16 == 0) rare.add(context.now());
    }

    struct Node {
        Node* below;
        std::uint32_t bytes;
        unsigned char* content;
    };

    void change(Random& random) {
        if (random.chance(shape_.large_blocks)) {
            large_.resize(random.below(60'000));
            if (!large_.empty()) large_[random.below(large_.size())] ^= word_;
            return;
        }
        switch (random.below(9)) {
            case 0:
                for (std::uint64_t n = random.below(40); n > 0; --n)
                    numbers_.push_back(fold(word_, n));
                break;
            case 1:
                numbers_.erase(numbers_.begin() + static_cast<std::ptrdiff_t>(numbers_.size() / 3),
                               numbers_.end());
                break;
            case 2:
                numbers_ = std::vector<std::uint64_t>(numbers_);
                break;
            case 3:
                names_[static_cast<std::uint32_t>(random.below(30))] =
                    std::string(random.below(60), static_cast<char>('a' + word_ % 26));
                break;
            case 4:
                names_.erase(names_.begin(),
                             names_.lower_bound(static_cast<std::uint32_t>(random.below(20))));
                break;
            case 5:
                add_node(static_cast<std::uint32_t>(1 + random.below(700)));
                break;
            case 6:
                if (top_ != nullptr) drop_node();
                break;
            case 7:
                text_ += std::to_string(word_);
                if (text_.size() > 500) text_ = std::string();
                break;
            case 8:
                if (shape_.heap_by_malloc)
                    resize_buffer(static_cast<std::uint32_t>(random.below(300)));
                break;
        }
    }

    void add_node(std::uint32_t bytes) {
        top_ = new Node{top_, bytes, new unsigned char[bytes]};
        std::memset(top_->content, static_cast<int>(word_ & 0xff), bytes);
        top_->content[bytes / 2] = static_cast<unsigned char>(word_ >> 8);
    }

    void drop_node() {
        const std::unique_ptr<Node> node(top_);
        top_ = node->below;
        delete[] node->content;
    }

    void resize_buffer(std::uint32_t bytes) {
        if (bytes < 20) {
            std::free(buffer_);
            buffer_ = nullptr;
            buffer_bytes_ = 0;
            return;
        }
        buffer_ = static_cast<unsigned char*>(std::realloc(buffer_, bytes));
        for (; buffer_bytes_ < bytes; ++buffer_bytes_)
            buffer_[buffer_bytes_] = static_cast<unsigned char>(word_ >> (buffer_bytes_ % 50));
        buffer_bytes_ = bytes;
    }

    // Reads a few places of the state into word_. The later changes and events depend on word_.
    void look(Random& random) {
        if (!numbers_.empty()) word_ = fold(word_, numbers_[random.below(numbers_.size())]);
        if (!names_.empty())
            word_ =
                fold_bytes(word_, names_.rbegin()->second.data(), names_.rbegin()->second.size());
        if (top_ != nullptr) word_ = fold(word_, top_->content[random.below(top_->bytes)]);
        if (!text_.empty()) word_ = fold(word_, static_cast<std::uint64_t>(text_.back()));
        if (buffer_bytes_ > 0) word_ = fold(word_, buffer_[random.below(buffer_bytes_)]);
        if (!large_.empty()) word_ = fold(word_, large_[random.below(large_.size())]);
    }

    std::uint64_t hash_of_everything() const {
        std::uint64_t hash = fold(word_, events_);
        for (const std::uint64_t number : numbers_) hash = fold(hash, number);
        for (const auto& [key, name] : names_)
            hash = fold_bytes(fold(hash, key), name.data(), name.size());
        for (const Node* node = top_; node != nullptr; node = node->below)
            hash = fold_bytes(hash, node->content, node->bytes);
        hash = fold_bytes(hash, text_.data(), text_.size());
        hash = fold_bytes(hash, buffer_, buffer_bytes_);
        for (const std::uint64_t number : large_) hash = fold(hash, number);
        return hash;
    }

    const RandomShape& shape_;
    Spreader spreader_;
    CommitLog& log_;
    std::uint64_t word_ = 1;
    std::uint64_t events_ = 0;
    std::vector<std::uint64_t> numbers_;
    std::map<std::uint32_t, std::string> names_;
    Node* top_ = nullptr;
    std::string text_;
    unsigned char* buffer_ = nullptr;
    std::uint32_t buffer_bytes_ = 0;
    std::vector<std::uint64_t> large_;

  public:
    BasicTally<16> words;
    TimeAverage size;
    Histogram<3> fuels{0, 2};
    Count rare;
};

// --- State in one vector -------------------------------------------------------------------------

// Most sizes of the vector fit into an entry of the worker's log; a few do not.
class GrowingProcess final : public LogicalProcess {
  public:
    GrowingProcess(LpId, const RandomShape* shape, CommitLog* log)
        : shape_(*shape), spreader_(*shape), log_(*log) {}

    void on_start(Context& context) override { start_lp(context, spreader_, shape_.fuel); }

    void on_event(Context& context, const Event& event) override {
        const Cargo cargo = Cargo::of(event);
        Random& random = context.random();
        words_.resize(1 + random.below(random.chance(0.03) ? 60 : 10), cargo.word);
        words_.shrink_to_fit();
        words_[++events_ % words_.size()] ^= fold(words_.front(), event.type());
        dawdle(shape_, context.self());
        if (random.chance(shape_.rows)) write_row(context, event, words_.back());
        spreader_.spread(context, cargo.fuel - 1, words_.back());
    }

    void on_commit(const Event& event) override { log_.add(event); }
    bool can_end() const override {
        return events_ >= shape_.can_end_after && (words_.empty() || words_.front() % 3 != 0);
    }
    void on_end(Context& context) override {
        const std::uint64_t hash =
            fold_bytes(events_, words_.data(), words_.size() * sizeof(std::uint64_t));
        context.output(1, index(context.self()), context.now(), events_, std::to_string(hash));
    }

  private:
    const RandomShape& shape_;
    Spreader spreader_;
    CommitLog& log_;
    std::uint64_t events_ = 0;
    std::vector<std::uint64_t> words_;
};

// --- Plain state ---------------------------------------------------------------------------------

template <std::size_t words>
struct PlainWords {
    std::uint64_t word = 1;
    std::uint64_t events = 0;
    std::array<std::uint64_t, words> table{};
};

template <std::size_t words>
class PlainProcess final : public PlainStateProcess<PlainWords<words>> {
  public:
    PlainProcess(LpId, const RandomShape* shape, CommitLog* log)
        : shape_(*shape), spreader_(*shape), log_(*log) {}

    void on_start(Context& context) override { start_lp(context, spreader_, shape_.fuel); }

    // on_reverse() can compute everything except the old word of the table. control() stores this
    // word.
    void on_event(Context& context, const Event& event) override {
        auto& my = this->state;
        std::uint64_t& place = my.table[my.events % words];
        context.control() = place;
        place = fold(place, my.word);
        my.word += effect_of(event) ^ place;
        ++my.events;
        dawdle(shape_, context.self());
        if (context.random().chance(shape_.rows)) write_row(context, event, my.word);
        spreader_.spread(context, Cargo::of(event).fuel - 1, my.word);
    }

    void on_reverse(Context& context, const Event& event) override {
        auto& my = this->state;
        --my.events;
        std::uint64_t& place = my.table[my.events % words];
        my.word -= effect_of(event) ^ place;
        place = context.control();
    }

    void on_commit(const Event& event) override { log_.add(event); }
    bool can_end() const override {
        return this->state.events >= shape_.can_end_after && this->state.word % 3 != 0;
    }
    void on_end(Context& context) override {
        const std::uint64_t hash =
            fold_bytes(this->state.word, this->state.table.data(), words * sizeof(std::uint64_t));
        context.output(1, index(context.self()), context.now(), this->state.events,
                       std::to_string(hash));
    }

  private:
    static std::uint64_t effect_of(const Event& event) noexcept {
        return fold_bytes(event.type(), event.bytes().data(), event.bytes().size());
    }

    const RandomShape& shape_;
    Spreader spreader_;
    CommitLog& log_;
};

// --- The model -----------------------------------------------------------------------------------

class RandomModel final : public Model {
  public:
    explicit RandomModel(const RandomShape& shape)
        : Model("random", "events of nonsense"), shape_(shape) {}

    const CommitLog& log() const noexcept { return log_; }

    Setup setup() override {
        const auto* shape = const_cast<const RandomShape*>(&shape_);
        Setup setup;
        setup.lps = shape_.lps;
        setup.until = shape_.until;
        setup.lookahead = shape_.lookahead;
        setup.payload_bytes_max = shape_.payload_bytes_max;
        switch (shape_.state) {
            case StateKind::containers:
                setup.process = process<ContainerProcess>(shape, &log_);
                setup.measures = {measure("words", &ContainerProcess::words),
                                  measure("size", &ContainerProcess::size),
                                  measure("fuels", &ContainerProcess::fuels),
                                  measure("rare", &ContainerProcess::rare)};
                break;
            case StateKind::small_plain:
                setup.process = process<PlainProcess<4>>(shape, &log_);
                break;
            case StateKind::large_plain:
                setup.process = process<PlainProcess<60>>(shape, &log_);
                break;
            case StateKind::growing:
                setup.process = process<GrowingProcess>(shape, &log_);
                break;
            case StateKind::middle_plain:
                setup.process = process<PlainProcess<20>>(shape, &log_);
                break;
        }
        setup.process.has_end_condition = shape_.can_end_after > 0;
        setup.process.has_commit = shape_.commits;
        setup.outputs = {{"events", {"lp", "time", "type", "word"}},
                         {"states", {"lp", "time", "events", "hash"}}};
        for (std::uint32_t lp = 0; shape_.links && lp < shape_.lps; ++lp)
            setup.links.push_back({LpId{lp}, LpId{(lp * 7 + 1) % shape_.lps}, 1 + lp % 3});
        for (std::uint32_t lp = 0; shape_.parts > 0 && lp < shape_.lps; ++lp)
            setup.parts.push_back(lp * 5 % shape_.parts);
        return setup;
    }

  private:
    RandomShape shape_;
    CommitLog log_;
};

}  // namespace nw::test
