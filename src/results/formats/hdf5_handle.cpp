// SPDX-License-Identifier: Apache-2.0
#include "results/formats/hdf5_handle.hpp"

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "util/check.hpp"

namespace nw {

namespace {

// Keeps the message of the function that failed first.
herr_t keep_first(unsigned, const H5E_error2_t* error, void* reason) {
    auto& text = *static_cast<std::string*>(reason);
    if (text.empty() && error->desc != nullptr) text = error->desc;
    return 0;
}

// Extracts the system's message from "file write failed: time = …, error message = 'No space left
// on device', buf = …".
std::string_view system_words(std::string_view reason) {
    constexpr std::string_view mark = "error message = '";
    const std::size_t at = reason.find(mark);
    if (at == std::string_view::npos) return reason;
    reason.remove_prefix(at + mark.size());
    return reason.substr(0, reason.find('\''));
}

}  // namespace

std::string other_hdf5_version() {
    H5dont_atexit();  // before the first other call
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    if (major == H5_VERS_MAJOR && minor == H5_VERS_MINOR && release == H5_VERS_RELEASE) return {};
    return fmt::format(
        "the HDF5 library has version {}.{}.{}, but the program was built with {}.{}.{}; allowed: "
        "the same version, or --output-format csv",
        major, minor, release, H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
}

void prepare_hdf5() {
    // HDF5's own check of versions would end the process, after the run. other_hdf5_version() has
    // compared the versions before the run.
    setenv("HDF5_DISABLE_VERSION_CHECK", "2", 1);
    H5dont_atexit();
    H5open();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

void fail_hdf5(const std::string& path) {
    std::string reason;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
    throw MachineError(fmt::format("writing {} failed: {}", path, system_words(reason)));
}

}  // namespace nw
