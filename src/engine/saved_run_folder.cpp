#include "engine/saved_run_folder.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/check.hpp"

namespace nw {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view schema = "numawarp.checkpoint/1";
constexpr std::string_view prefix = "checkpoint-";
constexpr const char* latest_file = "latest.json";
constexpr const char* manifest_file = "manifest";

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

Section write_file(const fs::path& path, const std::string& bytes) {
    SectionWriter file(path.string());
    file.write(bytes.data(), bytes.size());
    const Section section = file.end_section();
    file.finish();
    return section;
}

[[noreturn]] void refuse(const std::string& directory, std::string_view why) {
    throw SetupError(fmt::format(
        "--restart {}: {}; legal: a folder with a whole checkpoint of this program and version",
        directory, why));
}

// What a name stands for; empty where it is missing, or is no text: the file may be damaged.
std::string text_in(const json& object, std::string_view name) {
    if (!object.is_object()) return {};
    const auto found = object.find(std::string(name));
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

void check_identity(const std::string& directory, const json& saved, const RunIdentity& own) {
    for (const auto& [name, value] : own) {
        const std::string was = text_in(saved, name);
        if (was != value)
            throw SetupError(fmt::format(
                "--restart {}: {} is {} here and was {} when the checkpoint was written; "
                "legal: what it was",
                directory, name, value, was.empty() ? "unknown" : was));
    }
}

// Of checkpoint-000007 it is 7; of anything else 0.
std::uint32_t number_of(std::string_view name) noexcept {
    std::uint32_t number = 0;
    if (!name.starts_with(prefix)) return 0;
    name.remove_prefix(prefix.size());
    const auto [end, trouble] = std::from_chars(name.data(), name.data() + name.size(), number);
    return trouble == std::errc{} && end == name.data() + name.size() ? number : 0;
}

}  // namespace

std::string SavedRunFolder::groups_file(std::uint32_t rank, std::uint32_t worker) {
    return fmt::format("groups-{}-{}", rank, worker);
}

void SavedRunFolder::prepare() const {
    std::error_code error;
    fs::create_directories(directory_, error);
    if (!error && !fs::is_directory(directory_))
        error = std::make_error_code(std::errc::not_a_directory);
    if (!error) {
        // A name of its own: all ranks do this at a time, and a network's file system does not like
        // a file to be opened here and removed there.
        const fs::path probe =
            fs::path(directory_) / fmt::format(".probe-{:08x}", std::random_device{}());
        if (!std::ofstream(probe)) error = std::make_error_code(std::errc::permission_denied);
        std::error_code ignored;
        fs::remove(probe, ignored);
    }
    if (error)
        throw SetupError(fmt::format("--checkpoint {}: must be a folder that can be written: {}",
                                     directory_, error.message()));
}

bool SavedRunFolder::has_saved_run() const {
    std::error_code error;
    return fs::exists(fs::path(directory_) / latest_file, error);
}

SavedRun SavedRunFolder::read(const RunIdentity& own) const {
    if (!has_saved_run()) refuse(directory_, "no checkpoint there");
    const json latest = json::parse(read_file(fs::path(directory_) / latest_file), nullptr, false);
    if (text_in(latest, "schema") != schema)
        refuse(directory_, fmt::format("{} is damaged, or not ours", latest_file));
    // Before anything else: another program's manifest would be read as nonsense.
    check_identity(directory_, latest.value("identity", json::object()), own);
    const fs::path folder = fs::path(directory_) / text_in(latest, "folder");
    const std::string manifest = read_file(folder / manifest_file);
    Checksum checksum;
    checksum.append(manifest.data(), manifest.size());
    if (checksum.value().hex() != text_in(latest, "manifest_xxh3"))
        refuse(directory_, fmt::format("{} is damaged", (folder / manifest_file).string()));
    SavedRun run = unpack_saved_run(manifest);
    run.folder = folder.string();
    return run;
}

std::string SavedRunFolder::latest_name() const {
    if (!has_saved_run()) return {};
    return text_in(json::parse(read_file(fs::path(directory_) / latest_file), nullptr, false),
                   "folder");
}

void SavedRunFolder::remove_all_but(const std::string& name) const noexcept {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory_, ignored)) {
        const std::string other = entry.path().filename().string();
        if (number_of(other) > 0 && other != name) fs::remove_all(entry.path(), ignored);
    }
}

std::string SavedRunFolder::begin() {
    const std::string latest = latest_name();
    remove_all_but(latest);
    new_name_ = fmt::format("{}{:06}", prefix, number_of(latest) + 1);
    const fs::path folder = fs::path(directory_) / new_name_;
    std::error_code error;
    fs::create_directory(folder, error);
    if (error)
        throw MachineError(fmt::format("{} cannot be made: {}", folder.string(), error.message()));
    return folder.string();
}

void SavedRunFolder::complete(const SavedRun& run) {
    const fs::path directory(directory_), folder = directory / new_name_;
    const Section manifest = write_file(folder / manifest_file, pack(run));
    sync_folder(folder.string());
    const json latest = {{"schema", schema},
                         {"folder", new_name_},
                         {"identity", json(std::map<std::string, std::string>(run.identity.begin(),
                                                                              run.identity.end()))},
                         {"manifest_xxh3", manifest.checksum.hex()},
                         {"gvt", run.progress.gvt},
                         {"committed_events", run.progress.totals[Counter::committed_events]},
                         {"wall_seconds", run.progress.wall_seconds}};
    const fs::path temporary = folder / latest_file;
    write_file(temporary, latest.dump(2) + "\n");
    std::error_code error;
    fs::rename(temporary, directory / latest_file, error);
    if (error)
        throw MachineError(fmt::format("{} cannot be written: {}",
                                       (directory / latest_file).string(), error.message()));
    sync_folder(directory_);
    remove_all_but(new_name_);
}

}  // namespace nw
