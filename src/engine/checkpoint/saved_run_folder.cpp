// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/saved_run_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "results/statistics/stopwatch.hpp"
#include "util/check.hpp"
#include "util/file/disk.hpp"
#include "util/packing.hpp"

namespace nw {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view schema = "numawarp.checkpoint/1";
constexpr std::string_view prefix = "checkpoint-";
constexpr std::size_t number_digits = 6;  // at least
constexpr const char* latest_file = "latest.json";
constexpr const char* manifest_file = "manifest";

// The kernel may take seconds to free the memory of a killed run. Until then, the run holds its
// lock.
constexpr double lock_patience_seconds = 5;

// Returns the content of a small file. If the file cannot be read, stores the reason in `trouble`;
// otherwise stores an empty string.
std::string read_file(const fs::path& path, std::string& trouble) {
    const detail::OpenFile file = detail::open_to_read(path.string());
    std::string bytes;
    char piece[4096];
    while (file != nullptr) {
        const std::size_t size = std::fread(piece, 1, sizeof piece, file.get());
        bytes.append(piece, size);
        if (size < sizeof piece) break;
    }
    trouble = file == nullptr || std::ferror(file.get()) != 0 ? std::strerror(errno) : "";
    return bytes;
}

Section write_file(const fs::path& path, const std::string& bytes) {
    SectionWriter file(path.string());
    file.write(bytes.data(), bytes.size());
    const Section section = file.end_section();
    file.finish();
    return section;
}

[[noreturn]] void refuse(const std::string& directory, std::string_view why) {
    throw SetupError(
        fmt::format("--restart {}: {}; allowed: a folder with a complete checkpoint of this "
                    "program and version",
                    directory, why));
}

// The text with that name in the object. Empty if it is missing or is no text, because the file may
// be damaged.
std::string text_in(const json& object, std::string_view name) {
    if (!object.is_object()) return {};
    const auto found = object.find(std::string(name));
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

void check_identity(const std::string& directory, const json& saved, const RunIdentity& own) {
    for (const auto& [name, value] : own) {
        const std::string was = text_in(saved, name);
        if (was != value)
            throw SetupError(
                fmt::format("--restart {}: {} is {} here and was {} when the checkpoint was "
                            "written; allowed: the same value",
                            directory, name, value, was.empty() ? "unknown" : was));
    }
}

// Replaces latest.json in `directory`. `folder`: a folder below `directory`, on the same file
// system.
void write_latest(const fs::path& directory, const fs::path& folder, const json& latest) {
    const fs::path temporary = folder / latest_file;
    std::error_code ignored;
    fs::remove(temporary, ignored);  // left by a run that ended at this point
    write_file(temporary, latest.dump(2) + "\n");
    replace_file((directory / latest_file).string(), temporary.string());
}

// The number in a folder's name: 7 for checkpoint-000007. Returns 0 for a name of another form.
std::uint32_t number_of(std::string_view name) noexcept {
    std::uint32_t number = 0;
    if (!name.starts_with(prefix) || name.size() < prefix.size() + number_digits) return 0;
    name.remove_prefix(prefix.size());
    const auto [end, trouble] = std::from_chars(name.data(), name.data() + name.size(), number);
    return trouble == std::errc{} && end == name.data() + name.size() ? number : 0;
}

// Calls visit(entry) for each entry of the folder. Returns the error that ended the reading early.
template <class Visit>
std::error_code for_each_entry(const fs::path& directory, Visit visit) {
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error))
        visit(*entry);
    return error;
}

// Calls visit(path, number) for each folder that has the name of a saved run.
template <class Visit>
std::error_code for_each_saved(const std::string& directory, Visit visit) {
    return for_each_entry(directory, [&](const fs::directory_entry& entry) {
        const std::uint32_t number = number_of(entry.path().filename().string());
        if (number > 0) visit(entry.path(), number);
    });
}

bool is_file_of_ours(const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    const bool ours = name == manifest_file || name == latest_file || name.starts_with("groups-") ||
                      name.starts_with("trace-");
    std::error_code ignored;
    return ours && entry.symlink_status(ignored).type() == fs::file_type::regular;
}

// Removes the folder of a saved run, unless the folder also contains other files.
void remove_saved(const fs::path& folder) noexcept {
    std::error_code ignored;
    if (fs::symlink_status(folder, ignored).type() != fs::file_type::directory) return;
    std::vector<fs::path> files;
    bool all_ours = true;
    const std::error_code error = for_each_entry(folder, [&](const fs::directory_entry& entry) {
        all_ours &= is_file_of_ours(entry);
        files.push_back(entry.path());
    });
    if (error || !all_ours) return;
    for (const fs::path& file : files) fs::remove(file, ignored);
    fs::remove(folder, ignored);
}

}  // namespace

FolderLock::FolderLock(const std::string& option, const std::string& directory) {
    const std::string path = (fs::path(directory) / ".lock").string();
    descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) return;
    const Stopwatch watch;
    while (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return;
        if (watch.wall_seconds() < lock_patience_seconds) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            continue;
        }
        close(descriptor_);
        std::string trouble;
        const std::string who = read_file(path, trouble);
        throw SetupError(
            fmt::format("--{} {}: another run uses it ({}); allowed: one run at a time per folder",
                        option, directory, who.empty() ? "unknown" : who));
    }
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    const std::string who = fmt::format("process {} on {}", getpid(), host);
    // The text in the file is used only for the message above, in another process.
    if (ftruncate(descriptor_, 0) == 0) [[maybe_unused]]
        const ssize_t written = pwrite(descriptor_, who.data(), who.size(), 0);
}

FolderLock::~FolderLock() {
    if (descriptor_ >= 0) close(descriptor_);
}

std::string SavedRunFolder::groups_file(std::uint32_t rank, std::uint32_t worker) {
    return fmt::format("groups-{}-{}", rank, worker);
}

std::string SavedRunFolder::trace_file(std::uint32_t rank) { return fmt::format("trace-{}", rank); }

bool SavedRunFolder::has_saved_run() const {
    std::error_code error;  // a file that cannot be read is refused later, with the reason
    return fs::symlink_status(fs::path(directory_) / latest_file, error).type() !=
           fs::file_type::not_found;
}

SavedRun SavedRunFolder::read(const RunIdentity& own) const {
    if (!has_saved_run()) refuse(directory_, "the folder has no checkpoint");
    const auto read_or_refuse = [&](const fs::path& path) {
        std::string trouble;
        std::string bytes = read_file(path, trouble);
        if (!trouble.empty())
            refuse(directory_, fmt::format("{} cannot be read: {}", path.string(), trouble));
        return bytes;
    };
    const fs::path latest_path = fs::path(directory_) / latest_file;
    const json latest = json::parse(read_or_refuse(latest_path), nullptr, false);
    if (text_in(latest, "schema") != schema)
        refuse(directory_, fmt::format("{} is damaged, or is not a numawarp file", latest_file));
    // The identity is checked first, because the manifest of another program may have another
    // format.
    check_identity(directory_, latest.value("identity", json::object()), own);
    const fs::path folder = fs::path(directory_) / text_in(latest, "folder");
    const std::string manifest = read_or_refuse(folder / manifest_file);
    Checksum checksum;
    checksum.append(manifest.data(), manifest.size());
    if (checksum.value().hex() != text_in(latest, "manifest_xxh3"))
        refuse(directory_, fmt::format("{} is damaged", (folder / manifest_file).string()));
    SavedRun run = [&] {
        try {
            return unpack_saved_run(manifest);
        } catch (const DamagedBytes&) {
            refuse(directory_, fmt::format("{} is damaged", (folder / manifest_file).string()));
        }
    }();
    run.folder = folder.string();
    run.checksum = checksum.value().hex();
    if (const auto over = latest.find("over_at"); over != latest.end() && over->is_number())
        run.over_at = over->get<VirtualTime>();
    return run;
}

void SavedRunFolder::note_over(VirtualTime at) {
    const std::string name = latest_name();
    if (name.empty()) return;
    const fs::path directory(directory_), path = directory / latest_file;
    std::string trouble;
    json latest = json::parse(read_file(path, trouble), nullptr, false);
    latest["over_at"] = at;
    write_latest(directory, directory / name, latest);
}

std::string SavedRunFolder::latest_name() const {
    const fs::path path = fs::path(directory_) / latest_file;
    if (fs::status(path).type() == fs::file_type::not_found) return {};
    std::string trouble;
    const std::string name =
        text_in(json::parse(read_file(path, trouble), nullptr, false), "folder");
    if (name.empty())
        throw MachineError(fmt::format("{} cannot be read{}{}", path.string(),
                                       trouble.empty() ? "" : ": ", trouble));
    return name;
}

// Without a latest.json, a folder with a manifest is kept: it may be the last checkpoint of another
// run.
std::string SavedRunFolder::begin() {
    new_name_.clear();
    try {
        if (!latest_) latest_ = latest_name();
    } catch (const fs::filesystem_error& error) {
        throw MachineError(error.what());
    }
    if (!is_synced_) sync_folder(directory_);  // before the previous saved run is removed
    is_synced_ = true;
    std::uint32_t highest = 0;
    std::error_code error;
    const std::error_code unread =
        for_each_saved(directory_, [&](const fs::path& folder, std::uint32_t number) {
            const bool is_left_over =
                !latest_->empty() || !fs::exists(folder / manifest_file, error);
            if (folder.filename() != *latest_ && is_left_over) remove_saved(folder);
            if (fs::exists(folder, error)) highest = std::max(highest, number);
        });
    if (unread)
        throw MachineError(fmt::format("{} cannot be read: {}", directory_, unread.message()));
    const std::string name = fmt::format("{}{:0{}}", prefix, highest + 1, number_digits);
    const fs::path folder = fs::path(directory_) / name;
    if (!fs::create_directory(folder, error))
        throw MachineError(fmt::format("{} cannot be created: {}", folder.string(),
                                       error ? error.message() : "it exists already"));
    new_name_ = name;  // from now on, abandon() may remove this folder
    return folder.string();
}

void SavedRunFolder::abandon() const noexcept {
    if (!new_name_.empty()) remove_saved(fs::path(directory_) / new_name_);
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
    write_latest(directory, folder, latest);
    latest_ = std::exchange(new_name_, {});  // from now on, abandon() does nothing
    is_synced_ = false;
    sync_folder(directory_);
    is_synced_ = true;
    for_each_saved(directory_, [&](const fs::path& other, std::uint32_t) {
        if (other.filename() != *latest_) remove_saved(other);
    });
}

}  // namespace nw
