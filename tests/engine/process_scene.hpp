// SPDX-License-Identifier: Apache-2.0
// For tests of processes: one LP on the sequential engine. The processes of the LP write what they
// observe into a text outside of the LP.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <numawarp/process.hpp>

#include "tests/engine/engines.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {

// The text of a scene. Handlers write to the text without an allocation.
struct Notes {
    std::array<char, 4096> text;
    std::size_t size = 0;
    int alive = 0;  // number of Guests that exist
};

class Scene;
using Play = void (*)(Scene&);

class Scene final : public ProcessLp {
  public:
    Scene(LpId, Play play, Notes* notes, double lag) : play_(play), notes_(notes) {
        if (lag > 0) env.may_lag(lag);
    }
    void start() override { play_(*this); }
    void finish() override { note("end"); }
    void note(std::string_view word) const {
        const auto end =
            fmt::format_to_n(notes_->text.data() + notes_->size, notes_->text.size() - notes_->size,
                             "{}:{} ", env.now(), word);
        notes_->size += end.size;
    }
    Notes& notes() const { return *notes_; }

    Resource desk{env};
    Container tank{env, 100, 50};
    Store<std::unique_ptr<int>> shelf{env, 2};
    Signal signal{env};
    std::vector<Process> processes;

  private:
    Play play_;
    Notes* notes_;
};

// Notes::alive counts the Guests that exist.
struct Guest {
    explicit Guest(const Scene& scene) : notes(scene.notes()) { ++notes.alive; }
    Guest(const Guest&) = delete;
    ~Guest() { --notes.alive; }
    Notes& notes;
};

class Stage final : public Model {
  public:
    Stage(Play play, double lag) : Model("stage", "one scene"), play_(play), lag_(lag) {}
    Setup setup() override {
        Setup setup;
        setup.lps = 1;
        setup.until = 1000;
        setup.payload_bytes_max = 16;
        setup.process = process<Scene>(play_, &notes, lag_);
        return setup;
    }
    Notes notes;

  private:
    Play play_;
    double lag_;
};

inline Process sleeper(Scene& scene, double time, std::string_view word) {
    co_await scene.env.delay(time);
    scene.note(word);
}

inline Config in_order() {
    Config config;
    config.engine = EngineKind::sequential;
    return config;
}

inline std::string told(Play play, double lag = 0) {
    Stage stage(play, lag);
    run_model(stage, in_order());
    std::string text(stage.notes.text.data(), stage.notes.size);
    return text.substr(0, text.size() - std::string_view("1000:end ").size());
}
inline std::string failure(Play play) {
    Stage stage(play, 0);
    return model_error_of(stage, in_order());
}
inline bool says(const std::string& text, std::string_view words) {
    INFO(text);
    return text.find(words) != std::string::npos;
}

}  // namespace nw::test
