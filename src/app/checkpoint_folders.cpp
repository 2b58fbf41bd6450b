// SPDX-License-Identifier: Apache-2.0
#include "app/checkpoint_folders.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/fixed_addresses.hpp"
#include "app/options/command_line.hpp"
#include "app/report/output_files.hpp"
#include "engine/checkpoint/saved_run.hpp"
#include "engine/checkpoint/saved_run_folder.hpp"

namespace nw {
namespace {

// Quotes the word for a POSIX shell, if necessary.
std::string shell_quoted(const std::string& word) {
    constexpr const char* plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

}  // namespace

std::unique_ptr<FolderLock> lock_restart_folder(const Settings& settings) {
    const std::string& directory = settings.restart_directory;
    if (directory.empty() || !SavedRunFolder(directory).has_saved_run()) return nullptr;
    return std::make_unique<FolderLock>("restart", directory);
}

void find_saved_run(Settings& settings, RunIdentity identity, std::vector<LoadedModule> modules,
                    const Setup& setup, bool is_first) {
    Config& config = settings.config;
    config.save.modules = std::move(modules);
    config.save.why_addresses_differ = why_addresses_differ();
    if (!settings.restart_directory.empty()) {
        config.restart_from = std::make_shared<const SavedRun>(
            SavedRunFolder(settings.restart_directory).read(identity));
        const VirtualTime saved_at = config.restart_from->progress.gvt;
        const VirtualTime until = config.until.value_or(setup.until);
        if (until <= saved_at)
            throw SetupError(
                fmt::format("--until {}: the saved run has reached {}; allowed with this "
                            "--restart: a later time",
                            until, saved_at));
        const std::uint32_t lps_per_group = config.restart_from->partition.lps_per_group;
        if (config.lps_per_group != 0 && config.lps_per_group != lps_per_group)
            throw SetupError(
                fmt::format("--lps-per-group {}: a restarted run keeps its groups; allowed with "
                            "this --restart: {}, or auto",
                            config.lps_per_group, lps_per_group));
        // A restarted run appends to the tables that the first rank has written. So the folder of
        // these tables must exist; a new folder would not help.
        const std::string& output = config.output_directory;
        std::error_code ignored;
        if (is_first && !output.empty() && !std::filesystem::is_directory(output, ignored))
            throw SetupError(
                fmt::format("--output {}: does not exist; allowed with --restart: the output "
                            "folder of the saved run",
                            output));
    }
    if (config.save.on()) config.save.identity = std::move(identity);
}

std::unique_ptr<FolderLock> prepare_checkpoint_folder(const Settings& settings, bool is_first) {
    const Config& config = settings.config;
    if (!config.save.on()) return nullptr;
    const SavedRunFolder folder(config.save.directory);
    prepare_folder("checkpoint", config.save.directory);
    std::error_code ignored;
    const bool is_ours =
        config.restart_from &&
        std::filesystem::equivalent(config.save.directory, settings.restart_directory, ignored);
    std::unique_ptr<FolderLock> lock;
    if (is_first && !is_ours)
        lock = std::make_unique<FolderLock>("checkpoint", config.save.directory);
    if (folder.has_saved_run() && !is_ours)
        throw SetupError(
            fmt::format("--checkpoint {0}: the folder has a checkpoint of an earlier run; allowed: "
                        "--restart {0} to continue that run, or an empty folder",
                        config.save.directory));
    return lock;
}

std::string restart_hint(const Settings& settings, std::size_t own_words_last, VirtualTime saved_at,
                         std::uint32_t ranks) {
    std::vector<std::string> words;
    const std::vector<std::string> given = own_command_line();
    const std::size_t ours = given.size() - std::min(own_words_last, given.size());
    for (std::size_t i = 0; i < ours; ++i) {
        if (given[i] == "--restart")
            ++i;
        else if (!given[i].starts_with("--restart="))
            words.push_back(given[i]);
    }
    words.insert(words.end(), {"--restart", settings.config.save.directory});
    words.insert(words.end(), given.begin() + static_cast<std::ptrdiff_t>(ours), given.end());
    for (std::string& word : words) word = shell_quoted(word);
    return fmt::format("saved at virtual time {}; {}continue with: {}", saved_at,
                       ranks > 1 ? "any number of ranks, started in the same way, can " : "",
                       fmt::join(words, " "));
}

}  // namespace nw
