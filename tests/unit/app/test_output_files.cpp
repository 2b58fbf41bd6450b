// SPDX-License-Identifier: Apache-2.0
// Results replace a regular file as a whole. Links stay links. Devices and pipes are written to and
// never replaced.
#include <csignal>
#include <cstdio>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <numawarp/model.hpp>

#include "app/report/output_files.hpp"
#include "tests/support/catch.hpp"

namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
  public:
    TemporaryFolder()
        : path_(fs::temp_directory_path() / ("numawarp-files-" + std::to_string(getpid()))) {
        fs::create_directories(path_);
    }
    ~TemporaryFolder() { fs::remove_all(path_); }
    fs::path operator/(const char* name) const { return path_ / name; }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
    }

  private:
    fs::path path_;
};

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_whole(const fs::path& path, const std::string& text) {
    nw::WholeFile file("stats", path);
    file.write(text);
}

}  // namespace

TEST_CASE("output files: a regular file is replaced completely or is left unchanged") {
    const TemporaryFolder folder;
    std::ofstream(folder / "s.json") << "old";
    { const nw::WholeFile unwritten("stats", folder / "s.json"); }
    CHECK(text_of(folder / "s.json") == "old");
    write_whole(folder / "s.json", "new");
    CHECK(text_of(folder / "s.json") == "new");
    CHECK(folder.files() == 1);
}

TEST_CASE("output files: a file that is written in pieces appears when it is complete") {
    const TemporaryFolder folder;
    std::ofstream(folder / "t.json") << "old";
    {
        nw::WholeFile cut_off("trace", folder / "t.json");
        cut_off.append("half");
    }
    CHECK(text_of(folder / "t.json") == "old");
    CHECK(folder.files() == 1);
    nw::WholeFile file("trace", folder / "t.json");
    file.append("one, ");
    file.append("two");
    CHECK(text_of(folder / "t.json") == "old");
    file.complete();
    CHECK(text_of(folder / "t.json") == "one, two");
    CHECK(folder.files() == 1);
}

TEST_CASE("output files: only the part file of a killed run is removed") {
    const TemporaryFolder folder;
    const std::string target = folder / "s.json";
    const pid_t killed = fork();
    if (killed == 0) {
        const nw::PartFile part(target);
        raise(SIGKILL);
    }
    REQUIRE(waitpid(killed, nullptr, 0) == killed);
    REQUIRE(folder.files() == 1);
    // The name is TARGET.HOST-BOOT-RANDOM.part.
    const std::string left = fs::directory_iterator(folder / "")->path();
    const std::size_t boot = left.size() - std::string("01234567-01234567.part").size();
    const std::string host = left.substr(target.size() + 1, boot - target.size() - 2);
    const std::string of_another_boot = left.substr(0, boot) + "00000001-01234567.part";
    const std::string of_a_namespace = target + ".elsewhere-" + left.substr(boot);
    const std::string of_another_machine = target + ".elsewhere-00000001-01234567.part";
    const nw::PartFile in_use(target);
    CHECK_FALSE(fs::exists(left));
    const fs::path foreign[] = {of_another_machine,
                                in_use.path(),
                                folder / ("other.json." + host + "-00000001-01234567.part").c_str(),
                                target + "." + host + "-00000001-0123456.part",
                                target + "." + host + "-00000001_01234567.part",
                                target + ".-00000001-01234567.part",
                                target + "." + host + "-0000000x-01234567.part",
                                of_another_boot + "s",
                                of_another_boot + ".part"};
    for (const std::string& path : {left, of_another_boot, of_a_namespace})
        std::ofstream(path) << "half";
    for (const fs::path& path : foreign) std::ofstream(path) << "not ours";
    {
        nw::WholeFile file("stats", target);
        CHECK(file.notice().find("s.json.elsewhere-00000001-01234567.part from another machine") !=
              std::string::npos);
        file.write("new");
    }
    for (const std::string& path : {left, of_another_boot, of_a_namespace})
        CHECK_FALSE(fs::exists(path));
    for (const fs::path& path : foreign) CHECK(text_of(path) == "not ours");
    CHECK(text_of(target) == "new");
    CHECK(folder.files() == 1 + std::size(foreign));
    CHECK(nw::WholeFile("stats", folder / "other.json").notice().empty());
}

TEST_CASE("output files: a name without a folder is in the working folder") {
    const TemporaryFolder folder;
    const fs::path before = fs::current_path();
    fs::current_path(folder / "");
    write_whole("s.json", "new");
    fs::current_path(before);
    CHECK(text_of(folder / "s.json") == "new");
    CHECK(folder.files() == 1);
}

TEST_CASE("output files: a symbolic link is kept and its target is written") {
    const TemporaryFolder folder;
    fs::create_symlink("second", folder / "first");
    fs::create_symlink("s.json", folder / "second");
    for (const char* text : {"made", "replaced"}) {
        write_whole(folder / "first", text);
        CHECK(fs::is_symlink(folder / "first"));
        CHECK(fs::is_symlink(folder / "second"));
        CHECK(fs::is_regular_file(fs::symlink_status(folder / "s.json")));
        CHECK(text_of(folder / "s.json") == text);
    }
    CHECK(folder.files() == 3);
}

TEST_CASE("output files: a cycle of links is refused") {
    const TemporaryFolder folder;
    fs::create_symlink("b", folder / "a");
    fs::create_symlink("a", folder / "b");
    CHECK_THROWS_AS(nw::WholeFile("stats", folder / "a"), nw::SetupError);
}

TEST_CASE("output files: a pipe receives the text and stays a pipe") {
    const TemporaryFolder folder;
    const fs::path pipe = folder / "pipe";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    std::string received;
    std::thread reader([&] { received = text_of(pipe); });
    write_whole(pipe, "through the pipe");
    reader.join();
    CHECK(received == "through the pipe");
    CHECK(fs::is_fifo(pipe));
    CHECK(folder.files() == 1);
}

TEST_CASE("output files: a device behind a link is written and stays a device") {
    const TemporaryFolder folder;
    fs::create_symlink("/dev/null", folder / "nowhere");
    write_whole(folder / "nowhere", "nothing");
    CHECK(fs::is_symlink(folder / "nowhere"));
    CHECK(fs::is_character_file("/dev/null"));
    CHECK(folder.files() == 1);
}

TEST_CASE("output files: an open descriptor is written at its current position") {
    const TemporaryFolder folder;
    const fs::path path = folder / "log";
    FILE* log = std::fopen(path.c_str(), "w");
    REQUIRE(log != nullptr);
    std::fputs("before ", log);
    std::fflush(log);
    fs::create_symlink("/proc/self/fd/" + std::to_string(fileno(log)), folder / "link");
    write_whole(folder / "link", "between ");
    std::fputs("after", log);
    std::fclose(log);
    CHECK(text_of(path) == "before between after");
    CHECK(folder.files() == 2);
}
