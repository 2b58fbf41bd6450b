// SPDX-License-Identifier: Apache-2.0
// A file that grows at its end contains the appended bytes in order, also the bytes that were
// buffered.
#include "util/file/appended_file.hpp"

#include <string>
#include <system_error>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

constexpr std::size_t sizes[] = {1, 70'000, 65'536, 10, 65'535, 1, 1, 0, 200'000, 3};

TEST_CASE("AppendedFile: pieces smaller and larger than the buffer are written in order") {
    const test::TemporaryFolder folder;
    std::string wanted;
    {
        AppendedFile file(folder.path() + "/f", AppendedFile::Open::new_name);
        char letter = 'a';
        for (const std::size_t size : sizes) {
            const std::string piece(size, letter++);
            file.append(piece);
            wanted += piece;
            CHECK(file.bytes() == wanted.size());
        }
        file.sync();
        CHECK((file.read(0, wanted.size() + 1) == wanted));
        file.truncate(70'002);
        file.append("end");  // written when the file is closed
    }
    CHECK((folder.read("f") == wanted.substr(0, 70'002) + "end"));
}

TEST_CASE("AppendedFile: the open mode empties or continues or creates the file") {
    const test::TemporaryFolder folder;
    const std::string path = folder.path() + "/f";
    CHECK_THROWS_AS(AppendedFile(path, AppendedFile::Open::as_it_is), std::system_error);
    AppendedFile(path, AppendedFile::Open::empty).append("old");
    CHECK_THROWS_AS(AppendedFile(path, AppendedFile::Open::new_name), std::system_error);
    AppendedFile(path, AppendedFile::Open::as_it_is).append(" and new");
    CHECK(folder.read("f") == "old and new");
    AppendedFile(path, AppendedFile::Open::empty).append("newest");
    CHECK(folder.read("f") == "newest");
}

TEST_CASE("AppendedFile: a full disk is an error that names the file") {
    AppendedFile file("/dev/full", AppendedFile::Open::as_it_is);
    CHECK_THROWS_AS(file.append(std::string(100'000, 'x')), MachineError);
    file.append("x");
    try {
        file.flush();
        FAIL("no error although the disk is full");
    } catch (const MachineError& error) {
        CHECK(std::string(error.what()) == "/dev/full cannot be written: No space left on device");
    }
}

}  // namespace
}  // namespace nw
