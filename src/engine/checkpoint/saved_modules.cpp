// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/saved_modules.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace nw {

std::optional<std::size_t> module_at(const std::vector<LoadedModule>& modules,
                                     std::uint64_t address) noexcept {
    for (std::size_t i = 0; i < modules.size(); ++i)
        if (address >= modules[i].begin && address < modules[i].end) return i;
    return std::nullopt;
}

void check_modules(const SavedRun& saved, const std::vector<LoadedModule>& own) {
    // Few words look like pointers by chance. Therefore, of the libraries that have moved, the
    // message names the library that most words point into.
    std::uint64_t most = 0;
    const LoadedModule *moved = nullptr, *moved_from = nullptr;
    for (std::size_t i = 0; i < saved.modules.size(); ++i) {
        const LoadedModule& was = saved.modules[i];
        const auto same_name = [&](const LoadedModule& module) { return module.name == was.name; };
        const auto is = std::find_if(own.begin(), own.end(), same_name);
        if (is == own.end())
            throw SetupError(
                fmt::format("--restart: the library {} is not loaded here, but was loaded when the "
                            "checkpoint was written; allowed: the same libraries",
                            was.name));
        if (is->identity != was.identity)
            throw SetupError(
                fmt::format("--restart: the library {} is {} here and was {} when the checkpoint "
                            "was written; allowed: the same library",
                            was.name, is->identity, was.identity));
        const std::uint64_t pointers =
            i < saved.stray.to_module.size() ? saved.stray.to_module[i] : 0;
        if (is->begin == was.begin || pointers <= most) continue;
        most = pointers;
        moved = &*is;
        moved_from = &was;
    }
    if (moved == nullptr) return;
    throw SetupError(fmt::format(
        "--restart: {} words in LPs point into the library {}, which is at {:#x} here and was {} "
        "when the checkpoint was written; allowed: the same kernel, libraries and `ulimit -s`, "
        "without address randomization (docs/how-to/checkpoints.md)",
        most, moved->name, moved->begin,
        moved_from->begin == 0 ? "at several addresses"
                               : fmt::format("at {:#x}", moved_from->begin)));
}

}  // namespace nw
