#include "results/machine_facts.hpp"

#include <ctime>
#include <fstream>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace nw {
namespace {

#if defined(__clang__)
constexpr const char* compiler = "Clang " __clang_version__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.rfind("model name", 0) == 0 && colon != std::string::npos)
            return line.substr(colon + 2);
    }
    return "unknown";  // ARM's kernels say numbers only
}

std::string kernel_release() {
    std::ifstream file("/proc/sys/kernel/osrelease");
    std::string release;
    return std::getline(file, release) ? "Linux " + release : "unknown";
}

}  // namespace

MachineFacts machine_facts() {
    return {cpu_name(), std::thread::hardware_concurrency(), kernel_release(), compiler};
}

std::string date_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(std::time(nullptr)));
}

}  // namespace nw
