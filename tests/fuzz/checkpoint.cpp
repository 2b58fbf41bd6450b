// SPDX-License-Identifier: Apache-2.0
// --restart DIR: latest.json and the manifest of a checkpoint. The input is latest.json, a zero
// byte, and the manifest. The target corrects the checksum of the manifest, because it tests the
// checks behind the checksum. The memory of groups is not an input: it is an image of the process,
// and only its checksum protects it.
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "engine/checkpoint/saved_modules.hpp"
#include "engine/checkpoint/saved_run_folder.hpp"
#include "plan/partition.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/temporary_folder.hpp"
#include "util/checksum.hpp"

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string checksum_of(std::string_view bytes) {
    nw::Checksum checksum;
    checksum.append(bytes.data(), bytes.size());
    return checksum.value().hex();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const nw::test::TemporaryFolder folder;
    const std::string_view input = nw::test::as_text(data, size);
    const std::size_t end = std::min(input.find('\0'), input.size());
    const std::string_view manifest = input.substr(std::min(end + 1, input.size()));
    const fs::path directory(folder.path());
    fs::create_directories(directory / "checkpoint-000001");
    write(directory / "checkpoint-000001/manifest", manifest);
    nlohmann::json latest = nlohmann::json::parse(input.substr(0, end), nullptr, false);
    if (latest.is_object() && latest.contains("manifest_xxh3"))
        latest["manifest_xxh3"] = checksum_of(manifest);
    write(directory / "latest.json",
          latest.is_discarded() ? std::string(input.substr(0, end)) : latest.dump());
    nw::test::read_or_refuse([&] {
        const nw::SavedRun run =
            nw::SavedRunFolder(folder.path()).read({{"the program", "abc"}, {"--seed", "1"}});
        nw::check_modules(run, {{"libone.so", "1234", 10, 20}});
        nw::Setup setup;
        setup.lps = run.partition.lps;
        nw::Partition(setup, run.partition, 1, 2);
    });
    return 0;
}
