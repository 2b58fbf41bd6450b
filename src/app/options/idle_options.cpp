// SPDX-License-Identifier: Apache-2.0
#include "app/options/idle_options.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace nw {

namespace {

class IdleList {
  public:
    // An option keeps the first reason that is added.
    void add(const std::string& why, std::initializer_list<const char*> names) {
        for (const char* const name : names)
            if (std::none_of(idle_.begin(), idle_.end(),
                             [&](const IdleOption& one) { return one.name == name; }))
                idle_.push_back({name, why});
    }
    std::vector<IdleOption> take() { return std::move(idle_); }

  private:
    std::vector<IdleOption> idle_;
};

std::string text_of(const nlohmann::json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
    return value.dump();
}

// The other engines ignore these options, and refuse the ones below.
constexpr std::initializer_list<const char*> timewarp_options = {
    "rollback",     "state-saving-interval", "gvt-interval",    "window",           "rebind",
    "rebind-ranks", "check-rebind",          "check-interrupt", "keep-safe-events", "net-thread",
    "pagemigd"};
constexpr std::initializer_list<const char*> timewarp_only_options = {"check-rollback", "trace",
                                                                      "place"};

// True if the value asks for the behavior that a run has anyway while the option is idle.
bool asks_for_no_change(std::string_view value, std::string_view name) noexcept {
    if (name == "workers") return value == "1";
    if (name == "check-rebind" || name == "check-interrupt") return value == "0.0";
    return value == "off" || value == "auto";
}

}  // namespace

std::vector<IdleOption> idle_options(const Settings& settings, const RunShape& shape) {
    const Config& config = settings.config;
    const bool time_warp = may_be_timewarp(config) && !shape.is_conservative;
    IdleList idle;
    if (settings.check_model_events > 0)
        idle.add("--check-model, which chooses the value", {"engine",
                                                            "workers",
                                                            "pin",
                                                            "net-thread",
                                                            "measure-interval",
                                                            "watchdog",
                                                            "rollback",
                                                            "state-saving-interval",
                                                            "gvt-interval",
                                                            "window",
                                                            "keep-safe-events",
                                                            "lps-per-group",
                                                            "rebind",
                                                            "rebind-ranks",
                                                            "check-rollback",
                                                            "check-interrupt",
                                                            "check-rebind",
                                                            "huge-pages",
                                                            "check-heap",
                                                            "place",
                                                            "machine",
                                                            "proximity",
                                                            "pagemigd",
                                                            "checkpoint",
                                                            "checkpoint-period",
                                                            "restart",
                                                            "stats",
                                                            "output",
                                                            "output-format",
                                                            "trace",
                                                            "hardware-counters",
                                                            "progress",
                                                            "quiet",
                                                            "verbose"});
    if (!time_warp)
        idle.add(shape.is_conservative ? "the conservative engine, which --engine auto has chosen"
                                       : fmt::format("--engine {}", word_for(config.engine)),
                 timewarp_options);
    if (config.engine == EngineKind::sequential) idle.add("--engine sequential", {"workers"});
    if (time_warp && shape.rollback == Rollback::reverse)
        idle.add("rollback by reverse", {"state-saving-interval"});
    if (time_warp && shape.commits_late)
        idle.add("a model with can_end() on several workers, which always keeps this data",
                 {"keep-safe-events"});
    if (time_warp && shape.workers == 1) idle.add("one worker", {"rebind", "check-rebind"});
    if (time_warp && shape.ranks == 1) idle.add("one rank", {"rebind-ranks"});
    if (time_warp && shape.ranks > 1 && config.rebind_seconds == 0)
        idle.add("--rebind off", {"rebind-ranks"});
    if (config.memory == MemoryMode::libc)
        idle.add("--memory libc, which does not place pages",
                 {"pagemigd", "huge-pages", "protect-shared", "rebind-ranks"});
    if (settings.quiet) idle.add("--quiet", {"progress", "verbose"});
    return idle.take();
}

std::string option_for_timewarp(const Settings& settings, const OptionTable& table) {
    std::vector<std::string> names(timewarp_options.begin(), timewarp_options.end());
    names.insert(names.end(), timewarp_only_options.begin(), timewarp_only_options.end());
    for (const std::string& name : names) {
        const OptionSpec* spec = table.find(name);
        if (settings.given.count(name) == 0 || spec == nullptr) continue;
        std::string text = text_of(spec->value());
        if (text.ends_with(".0")) text.resize(text.size() - 2);
        if (text != spec->standard) return fmt::format("--{} {}", name, text);
    }
    return {};
}

std::vector<std::string> idle_notices(const Settings& settings, const OptionTable& table,
                                      const RunShape& shape) {
    std::vector<std::string> notices;
    for (const IdleOption& idle : idle_options(settings, shape)) {
        const OptionSpec* spec = table.find(idle.name);
        if (settings.given.count(idle.name) == 0 || spec == nullptr) continue;
        const std::string text = text_of(spec->value());
        if (asks_for_no_change(text, idle.name)) continue;
        notices.push_back(fmt::format("--{} {}: has no effect with {}", idle.name, text, idle.why));
    }
    return notices;
}

}  // namespace nw
