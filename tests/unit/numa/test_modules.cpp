// SPDX-License-Identifier: Apache-2.0
// Compares the list of loaded libraries and their addresses with the C library's and the kernel's
// data.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include <dlfcn.h>

#include "numa/os/modules.hpp"
#include "tests/support/catch.hpp"

using namespace nw;

TEST_CASE("modules: each module has its own name and identity and addresses") {
    const auto modules = loaded_modules();
    REQUIRE(modules.size() > 2);
    for (const LoadedModule& module : modules) {
        INFO(module.name);
        CHECK(module.name.find('/') == std::string::npos);
        CHECK(module.name.find("vdso") == std::string::npos);
        CHECK(module.identity.size() >= 16);
        CHECK(module.begin < module.end);
        CHECK(std::count_if(modules.begin(), modules.end(), [&](const LoadedModule& other) {
                  return other.begin < module.end && module.begin < other.end;
              }) == 1);
    }
}

TEST_CASE("modules: the C library contains its data and has the identity of its file") {
    const auto address = reinterpret_cast<std::uint64_t>(stdout);
    const auto modules = loaded_modules();
    const auto libc = std::find_if(modules.begin(), modules.end(), [&](const LoadedModule& module) {
        return module.begin <= address && address < module.end;
    });
    REQUIRE(libc != modules.end());
    CHECK(libc->name.starts_with("libc."));
    Dl_info info{};
    REQUIRE(dladdr(stdout, &info) != 0);
    CHECK(libc->begin == reinterpret_cast<std::uint64_t>(info.dli_fbase));
    // The file contains the build-id as bytes.
    std::ifstream file(info.dli_fname, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::string identity;
    for (std::size_t i = 0; i + 1 < libc->identity.size(); i += 2)
        identity += static_cast<char>(std::stoi(libc->identity.substr(i, 2), nullptr, 16));
    CHECK(bytes.find(identity) != std::string::npos);
}

TEST_CASE("modules: a variable is used if the loader had to find it") {
    CHECK(stdout != nullptr);
    CHECK(is_variable_used("stdout"));
    CHECK_FALSE(is_variable_used("no_such_variable"));
}
