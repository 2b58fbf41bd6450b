// SPDX-License-Identifier: Apache-2.0
// A model whose LPs contain more than plain values: pointers to data that the model shares with the
// LPs, objects with virtual functions, and std::function. All values that an LP reads through
// pointers and functions go into payloads. So a pointer to the wrong place changes the digest.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <numawarp/model.hpp>

namespace nw::test {

// Data that all LPs read.
struct Catalogue {
    Catalogue() {
        for (std::uint64_t i = 0; i < 50; ++i)
            words.push_back("a word, too long to be short: " + std::to_string(i * i));
    }
    // Changes the words, so that an LP that still reads this object gets other values.
    void spoil() {
        for (std::string& word : words) word.assign(word.size(), '?');
    }
    std::uint64_t read(std::uint64_t n) const {
        const std::string& word = words[n % words.size()];
        return n + static_cast<unsigned char>(word[n % word.size()]) * word.size();
    }
    std::vector<std::string> words;
};

// Objects that handlers leave in their LP besides numbers.
enum class Handlers : std::uint8_t {
    plain,   // none
    typed,   // objects with virtual functions, and std::function
    astray,  // pointers to the shared data
};

// Steps of a calculation. Handlers create the steps.
struct Step {
    virtual ~Step() = default;
    virtual std::uint64_t apply(std::uint64_t word) const = 0;
};
struct AddStep final : Step {
    explicit AddStep(std::uint64_t n) : number(n) {}
    std::uint64_t apply(std::uint64_t word) const override { return word + number; }
    std::uint64_t number;
};
struct TextStep final : Step {
    explicit TextStep(std::uint64_t n) : text("step " + std::to_string(n * n * n)) {}
    std::uint64_t apply(std::uint64_t word) const override {
        return word * 31 + static_cast<unsigned char>(text[word % text.size()]);
    }
    std::string text;
};

class PointerProcess final : public LogicalProcess {
  public:
    // setup() creates `kept`. Constructors and destructors of LPs change its number of owners.
    PointerProcess(LpId self, const Catalogue* catalogue, Handlers handlers,
                   std::shared_ptr<const Catalogue> kept)
        : catalogue_(*catalogue),
          kept_(std::move(kept)),
          handlers_(handlers),
          page_(std::make_unique<Page>(Page{catalogue, &catalogue->words[index(self) % 50]})),
          small_([catalogue](std::uint64_t n) { return catalogue->read(n); }),
          large_([catalogue, page = page_.get(), a = std::uint64_t{index(self)},
                  b = std::string("in between")](std::uint64_t n) {
              return catalogue->read(n + a) + page->word->size() + b.size();
          }) {}

    void on_start(Context& context) override { context.schedule(context.self(), 1, tick); }

    void on_event(Context& context, const Event& event) override {
        word_ += catalogue_.read(word_) + page_->catalogue->read(word_ + 1) + page_->word->size() +
                 kept_->read(word_ + 2);
        word_ ^= small_(word_) * 3 + large_(word_);
        if (!event.bytes().empty()) word_ += event.payload<std::uint64_t>();
        if (handlers_ == Handlers::typed) use_types(context.random());
        if (handlers_ == Handlers::astray) found_ = &catalogue_.words[word_ % 50];
        if (event.type() == tick) {
            const LpId target{static_cast<std::uint32_t>(context.random().below(context.lps()))};
            context.schedule(target, context.random().exponential(1), word, word_);
            context.schedule(context.self(), 1, tick);
        } else if (event.type() == word) {
            context.schedule(context.self(), 0, echo, word_);
        }
    }

  private:
    static constexpr EventType tick = 0, word = 1, echo = 2;

    struct Page {
        const Catalogue* catalogue;
        const std::string* word;
    };

    void use_types(Random& random) {
        const std::uint64_t n = random.below(1000);
        if (random.chance(0.5)) {
            steps_[std::to_string(n % 20)] = std::make_unique<AddStep>(n);
        } else {
            steps_[std::to_string(n % 20)] = std::make_shared<TextStep>(n);
        }
        if (random.chance(0.2))
            last_ = [n, step = steps_.begin()->second](std::uint64_t w) {
                return step->apply(w) + n;
            };
        for (const auto& [name, step] : steps_) word_ = step->apply(word_) + name.size();
        if (last_) word_ = last_(word_);
    }

    const Catalogue& catalogue_;
    std::shared_ptr<const Catalogue> kept_;
    Handlers handlers_;
    std::unique_ptr<Page> page_;
    std::function<std::uint64_t(std::uint64_t)> small_;  // its captures are in the object
    std::function<std::uint64_t(std::uint64_t)> large_;  // its captures are in the LP's heap
    std::map<std::string, std::shared_ptr<const Step>> steps_;
    std::function<std::uint64_t(std::uint64_t)> last_;
    const std::string* found_ = nullptr;
    std::uint64_t word_ = 1;
};

class PointerModel final : public Model {
  public:
    explicit PointerModel(std::string handlers = "typed")
        : Model("pointers", "LPs that point out of their heaps, for tests"),
          handlers_(std::move(handlers)),
          catalogue_(std::make_unique<Catalogue>()) {}

    void options(Options& options) override {
        options.add_choice("handlers", handlers_, {"plain", "typed", "astray"},
                           "the pointers that handlers leave in LPs");
    }

    Setup setup() override {
        const Handlers handlers = handlers_ == "plain"   ? Handlers::plain
                                  : handlers_ == "typed" ? Handlers::typed
                                                         : Handlers::astray;
        Setup setup;
        setup.lps = 40;
        setup.until = 300;
        setup.payload_bytes_max = sizeof(std::uint64_t);
        setup.process = process<PointerProcess>(
            const_cast<const Catalogue*>(catalogue_.get()), handlers,
            std::shared_ptr<const Catalogue>(std::make_shared<Catalogue>()));
        return setup;
    }

    void spoil() { catalogue_->spoil(); }

  private:
    std::string handlers_;
    std::unique_ptr<Catalogue> catalogue_;
};

}  // namespace nw::test
