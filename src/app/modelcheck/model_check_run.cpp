// SPDX-License-Identifier: Apache-2.0
// --check-model in the process of a run.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include "app/modelcheck/model_check.hpp"
#include "app/modelcheck/model_check_words.hpp"
#include "app/options/setup_rules.hpp"
#include "memory/handler/outside_sources.hpp"
#include "memory/heap/heap_guards.hpp"
#include "memory/region/region.hpp"
#include "memory/region/shared_arena.hpp"
#include "numa/os/os.hpp"
#include "util/check.hpp"
#include "util/file/disk.hpp"

namespace nw {
namespace {

// Reserves the usual base addresses, so that the LPs' memory and the memory that setup() allocates
// get other addresses.
void take_usual_places() {
    void* got = nullptr;
    linux_os().reserve(reinterpret_cast<void*>(region_base), page_bytes, got);
    linux_os().reserve(reinterpret_cast<void*>(SharedArena::base), page_bytes, got);
}

void write_result(int file, std::string_view bytes) {
    if (write_all(file, bytes) < bytes.size())
        throw MachineError(fmt::format("--check-model: the results of a run cannot be written: {}",
                                       std::strerror(errno)));
}

}  // namespace

std::unique_ptr<ModelCheckRun> ModelCheckRun::of_environment() {
    const char* const text = std::getenv(check_run_variable);
    if (text == nullptr) return nullptr;
    nlohmann::json wanted = nlohmann::json::parse(text, nullptr, false);
    unsetenv(check_run_variable);
    if (!wanted.is_object())
        throw SetupError(
            fmt::format("{}: reserved for --check-model; must not be set", check_run_variable));
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // for the case that a signal ends the waiting process
    return std::unique_ptr<ModelCheckRun>(new ModelCheckRun(std::move(wanted)));
}

void ModelCheckRun::apply_to(Settings& settings, const OptionTable& table, const Model& model,
                             std::span<std::byte> main_variables) {
    checked_ = std::make_unique<CheckedRun>(
        CheckedRun::Wanted{.watches = wanted_.value("watches", false),
                           .fill = wanted_.value("fill", -1),
                           .events_most = wanted_.value("events", std::uint64_t{0}),
                           .seconds_most = wanted_.value("seconds", 0.0),
                           .main_variables = main_variables,
                           .model = &model});
    for (const OptionSpec& spec : table.specs())
        if (spec.rules.role.in_check_model == InCheckModel::replaced) spec.reset();
    settings.given.clear();
    settings.progress = ProgressMode::off;
    settings.quiet = true;
    Config& config = settings.config;
    config.engine =
        wanted_.value("timewarp", false) ? EngineKind::timewarp : EngineKind::sequential;
    config.workers = wanted_.value("workers", 1u);
    config.pin = false;
    if (wanted_.contains("until")) config.until = wanted_["until"].get<VirtualTime>();
    if (wanted_.contains("rollback"))
        config.rollback = static_cast<Rollback>(wanted_["rollback"].get<int>());
    config.lps_per_group = wanted_.value("lps_per_group", 0u);
    config.check_rollback = wanted_.value("rolled_back", 0.0);
    config.check_interrupt = wanted_.value("interrupted", 0.0);
    if (wanted_.contains("moved")) {
        config.check_rebind = wanted_["moved"].get<double>();
        config.rebind_seconds = 0.1;
    }
    config.check_heap = wanted_.value("check_heap", false);
    config.checked = checked_.get();
    heap_fill = wanted_.value("fill", -1);
    clock_shift_seconds = wanted_.value("clock_shift", std::int64_t{0});
    if (wanted_.value("elsewhere", false)) take_usual_places();
}

namespace {

nlohmann::json names_of(const Kinds& kinds) {
    auto names = nlohmann::json::array();
    for (const Kind& kind : kinds.all()) {
        auto events = nlohmann::json::array();
        for (const EventTypeInfo& event : kind.process.events)
            events.push_back({{"type", event.type}, {"name", event.name}});
        names.push_back({{"name", kind.name}, {"lps", kind.count}, {"events", events}});
    }
    return names;
}

}  // namespace

void ModelCheckRun::report(const Setup& setup, const RunResult& result) {
    using nlohmann::json;
    const Kinds kinds = Kinds::of(setup);
    json breaches = json::array();
    for (const Breach& breach : checked_->breaches())
        breaches.push_back({{"rule", breach.rule}, {"words", breach.words}});
    json methods = json::array();
    for (const RollbackMethod* const method : supported_methods(kinds))
        methods.push_back(method->value);
    const json found{{"methods", std::move(methods)},
                     {"kinds", names_of(kinds)},
                     {"are_named", kinds.are_named()},
                     {"end_time", result.end_time},
                     {"forced_rollbacks", result.totals[Counter::forced_rollbacks]},
                     {"breaches", std::move(breaches)},
                     {"sources", outside_sources_used()},
                     {"why_not_watched", checked_->why_not_watched()}};
    const std::string line = found.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
    const int file = wanted_.at("report").get<int>();
    write_result(file, line);
    const std::vector<std::byte>& log = checked_->log();
    write_result(file, {reinterpret_cast<const char*>(log.data()), log.size()});
}

}  // namespace nw
