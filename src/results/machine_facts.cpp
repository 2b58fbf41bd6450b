#include "results/machine_facts.hpp"

#include <ctime>
#include <fstream>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "numa/os/machine.hpp"

namespace nw {
namespace {

#if defined(__clang__)
constexpr const char* compiler = "Clang " __clang_version__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

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
