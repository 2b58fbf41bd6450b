// SPDX-License-Identifier: Apache-2.0
// The folder of --checkpoint at every stage of a save. Reading returns the last complete saved run,
// as it was written, or fails with a message of one line.
#include "engine/checkpoint/saved_run_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/engine/damaged_files.hpp"
#include "util/check.hpp"

namespace nw::test {
namespace {

namespace fs = std::filesystem;

const RunIdentity identity{{"the program", "abc"}, {"--seed", "1"}};

SavedRun run_at(VirtualTime gvt) {
    SavedRun run;
    run.identity = identity;
    run.progress.gvt = gvt;
    run.progress.end_key = {gvt, 2, 3, 4};
    run.progress.totals[Counter::committed_events] = 17;
    run.output.table_bytes = {100, 0};
    run.output.table_ends = {"the end,\n", ""};
    run.output.column_kinds = {{1, 2}, {}};
    run.history = {{{.seconds = 0}, {.seconds = 1, .gvt = 2, .committed_events = 9}}, 0.2};
    run.pieces = {{.ranks = 1, .workers = 2}, {.seconds = 0.5, .gvt = 1, .ranks = 3, .workers = 1}};
    run.partition = {5, 2, 3, {4, 3, 2, 1, 0}};
    run.region_base = 1 << 20;
    run.slot_bytes = 1 << 21;
    run.program_shift = 4096;
    run.stray = {1, {0, 5}, 2, "LP 3 has something"};
    run.modules = {{"libone.so", "1234", 10, 20}, {"libtwo.so", "5678", 30, 40}};
    run.files = {"groups-0-0"};
    run.groups = {{0, 0, {0, 10, {1, 2}}}, {1, 0, {10, 20, {3, 4}}}, {2, 0, {30, 5, {5, 6}}}};
    return run;
}

class Folder {
  public:
    Folder() { fs::create_directories(path); }
    // Returns the folder of the new saved run.
    fs::path save(VirtualTime gvt) {
        const fs::path own = folder.begin();
        folder.complete(run_at(gvt));
        return own;
    }
    VirtualTime saved_gvt() const { return folder.read(identity).progress.gvt; }

    // The message if reading is refused; empty if it is not.
    std::string refusal(const RunIdentity& own = identity) const {
        try {
            folder.read(own);
        } catch (const SetupError& error) {
            return error.what();
        }
        return {};
    }
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(path))
            names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }

    TemporaryFolder temporary;
    fs::path path = fs::path(temporary.path()) / "a" / "checkpoints";
    SavedRunFolder folder{path.string()};
};

TEST_CASE("saved run folder: a saved run is read back unchanged") {
    Folder f;
    CHECK_FALSE(f.folder.has_saved_run());
    const SavedRun saved = run_at(3.5);
    const fs::path own = f.folder.begin();
    f.folder.complete(saved);
    CHECK(f.folder.has_saved_run());
    const SavedRun run = f.folder.read(identity);
    CHECK(run.folder == own.string());
    CHECK((pack(run) == pack(saved)));
    CHECK(run.modules[1].name == "libtwo.so");
    CHECK(run.stray.to_module == std::vector<std::uint64_t>{0, 5});
    CHECK(run.groups[1].section.offset == 10);
    CHECK(run.history.samples[1].committed_events == 9);
    CHECK(run.pieces[1].ranks == 3);
    CHECK(run.partition.slot_of_lp == std::vector<std::uint32_t>{4, 3, 2, 1, 0});
}

TEST_CASE("saved run folder: the end of a run is recorded until the run is saved again") {
    Folder f;
    f.folder.note_over(4);  // no effect, because there is no saved run
    CHECK_FALSE(f.folder.has_saved_run());
    f.save(3);
    CHECK_FALSE(f.folder.read(identity).over_at);
    f.folder.note_over(4.5);
    CHECK(f.folder.read(identity).over_at == 4.5);
    CHECK(f.folder.read(identity).progress.gvt == 3);
    f.save(5);
    CHECK_FALSE(f.folder.read(identity).over_at);
}

TEST_CASE("saved run folder: the old checkpoint is valid until the new checkpoint is complete") {
    Folder f;
    f.save(1);
    const fs::path unfinished = f.folder.begin();
    CHECK(f.saved_gvt() == 1);
    set_bytes(unfinished / "groups-0-0", "half of it");
    CHECK(f.saved_gvt() == 1);
    set_bytes(unfinished / "manifest", pack(run_at(2)));  // complete() is not reached
    CHECK(f.saved_gvt() == 1);

    SavedRunFolder next(f.path.string());
    CHECK(next.begin() == unfinished.string());
    CHECK(f.saved_gvt() == 1);
    next.complete(run_at(3));
    CHECK(f.saved_gvt() == 3);
}

TEST_CASE("saved run folder: leftover checkpoints are removed and other files are kept") {
    Folder f;
    for (const char* left : {"checkpoint-000001", "checkpoint-000777"}) {
        fs::create_directories(f.path / left);
        set_bytes(f.path / left / "groups-0-0", "half of it");
    }
    for (const char* foreign : {"checkpoint-000500", "checkpoint-99", "checkpoint-mine"}) {
        fs::create_directories(f.path / foreign);
        set_bytes(f.path / foreign / "weights", "of the user's");
    }
    set_bytes(f.path / "checkpoint-000900", "a file");
    set_bytes(f.path / "notes.txt", "of the user's");
    f.save(1);
    CHECK(f.names() == std::vector<std::string>{"checkpoint-000500", "checkpoint-000900",
                                                "checkpoint-000901", "checkpoint-99",
                                                "checkpoint-mine", "latest.json", "notes.txt"});
    f.save(2);
    CHECK(f.names() == std::vector<std::string>{"checkpoint-000500", "checkpoint-000900",
                                                "checkpoint-000902", "checkpoint-99",
                                                "checkpoint-mine", "latest.json", "notes.txt"});
}

TEST_CASE("saved run folder: without latest.json a folder with a manifest is kept") {
    Folder f;
    const fs::path lost = f.save(1);
    fs::remove(f.path / "latest.json");
    SavedRunFolder(f.path.string()).begin();
    CHECK(fs::exists(lost / "manifest"));
}

TEST_CASE(
    "saved run folder: only one run can lock the folder; an abandoned checkpoint leaves no files") {
    Folder f;
    {
        const FolderLock lock("checkpoint", f.path.string());
        CHECK_THROWS_AS(FolderLock("checkpoint", f.path.string()), SetupError);
    }
    const FolderLock again("checkpoint", f.path.string());
    const fs::path given_up = f.folder.begin();
    set_bytes(given_up / "groups-0-0", "half of it");
    f.folder.abandon();
    CHECK_FALSE(fs::exists(given_up));
}

TEST_CASE("saved run folder: a damaged latest.json is refused or gives the same checkpoint") {
    Folder f;
    f.save(1);
    const std::string bytes = bytes_of(f.path / "latest.json");
    const auto check = [&](const std::string& damaged) {
        set_bytes(f.path / "latest.json", damaged);
        const std::string refusal = f.refusal();  // any other exception fails the test
        if (refusal.empty()) CHECK(f.saved_gvt() == 1);
        if (!refusal.empty()) CHECK(refusal.starts_with("--restart "));
    };
    for (std::size_t length = 0; length < bytes.size(); ++length) check(bytes.substr(0, length));
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) check(with_bit_flipped(bytes, bit));
    for (const char* other :
         {"[]", "7", "null", "{}", R"({"schema": 7})",
          R"({"schema": "numawarp.checkpoint/1", "identity": 7})",
          R"({"schema": "numawarp.checkpoint/1", "identity": {"the program": 7}})",
          R"({"schema": "numawarp.checkpoint/1", "folder": 7,
              "identity": {"the program": "abc", "--seed": "1"}})",
          R"({"schema": "numawarp.checkpoint/1", "folder": "checkpoint-000001", "manifest_xxh3": [],
              "identity": {"the program": "abc", "--seed": "1"}})",
          R"({"schema": "numawarp.checkpoint/2", "folder": "checkpoint-000001",
              "identity": {"the program": "abc", "--seed": "1"}})"}) {
        INFO(other);
        set_bytes(f.path / "latest.json", other);
        CHECK(f.refusal().starts_with("--restart "));
    }
}

TEST_CASE("saved run folder: a folder whose latest.json is damaged can be written again") {
    Folder f;
    f.save(1);
    for (const char* other : {"", "7", R"({"folder": 7})", R"({"folder": "../../elsewhere"})"}) {
        INFO(other);
        set_bytes(f.path / "latest.json", other);
        f.save(2);
        CHECK(f.saved_gvt() == 2);
    }
}

TEST_CASE("saved run folder: a manifest that is missing or truncated or damaged is refused") {
    Folder f;
    const fs::path manifest = f.save(1) / "manifest";
    const std::string bytes = bytes_of(manifest);
    const auto is_refused = [&] {
        return f.refusal().find(manifest.string() + " is damaged") != std::string::npos;
    };
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        set_bytes(manifest, bytes.substr(0, length));
        CHECK(is_refused());
    }
    for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 3) {
        set_bytes(manifest, with_bit_flipped(bytes, bit));
        CHECK(is_refused());
    }
    set_bytes(manifest, bytes + "more");
    CHECK(is_refused());
    set_bytes(manifest, bytes);
    CHECK(f.refusal().empty());
    // If the manifest is missing, or is not a regular file, reading it fails and does not block.
    const auto cannot_be_read = [&] {
        return f.refusal().find(manifest.string() + " cannot be read: ") != std::string::npos;
    };
    fs::remove(manifest);
    CHECK(cannot_be_read());
    fs::create_directory(manifest);
    CHECK(cannot_be_read());
    fs::remove(manifest);
    REQUIRE(mkfifo(manifest.c_str(), 0600) == 0);
    CHECK(cannot_be_read());
}

TEST_CASE(
    "saved run folder: a different run is refused with the saved value and the current value") {
    Folder f;
    CHECK(f.refusal().find("has no checkpoint") != std::string::npos);
    f.save(1);
    const std::string line = f.refusal({{"the program", "abc"}, {"--seed", "2"}});
    CHECK(line.find("--seed is 2 here and was 1") != std::string::npos);
    CHECK(line.find('\n') == std::string::npos);
    CHECK(f.refusal({{"the program", "xyz"}, {"--seed", "1"}})
              .find("the program is xyz here and was abc") != std::string::npos);
    // The saved run did not have this option.
    CHECK(f.refusal({{"the program", "abc"}, {"--seed", "1"}, {"--new", "2"}})
              .find("--new is 2 here") != std::string::npos);
}

TEST_CASE("saved run folder: a folder that disappears during the run is a MachineError") {
    Folder f;
    fs::remove_all(f.path);
    CHECK_THROWS_AS(f.folder.begin(), MachineError);
    fs::create_directories(f.path);
    f.folder.begin();
    fs::remove_all(f.path);
    CHECK_THROWS_AS(f.folder.complete(run_at(1)), MachineError);
}

// Lowers the limit of open files to the number of open files, so that the folder cannot be listed.
class NoMoreFiles {
  public:
    NoMoreFiles() {
        getrlimit(RLIMIT_NOFILE, &usual_);
        const int lowest_free = dup(0);
        close(lowest_free);
        const rlimit none{static_cast<rlim_t>(lowest_free), usual_.rlim_max};
        setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &usual_); }
    NoMoreFiles(const NoMoreFiles&) = delete;
    NoMoreFiles& operator=(const NoMoreFiles&) = delete;

  private:
    rlimit usual_{};
};

TEST_CASE("saved run folder: a folder that cannot be listed keeps its checkpoint") {
    Folder f;
    f.save(1);
    {
        const NoMoreFiles no_more_files;
        CHECK_THROWS_AS(f.folder.begin(), MachineError);
    }
    f.folder.abandon();
    CHECK(f.saved_gvt() == 1);
    f.save(2);
    CHECK(f.saved_gvt() == 2);
}

}  // namespace
}  // namespace nw::test
