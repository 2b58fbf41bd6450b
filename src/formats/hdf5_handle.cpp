#include "formats/hdf5_handle.hpp"

#include <string_view>

#include <fmt/format.h>

#include "base/check.hpp"

namespace nw {

namespace {

// Keeps what the function that failed first says of it.
herr_t keep_first(unsigned, const H5E_error2_t* error, void* reason) {
    auto& text = *static_cast<std::string*>(reason);
    if (text.empty() && error->desc != nullptr) text = error->desc;
    return 0;
}

// Out of "file write failed: time = …, error message = 'No space left on device', buf = …" the
// system's words.
std::string_view system_words(std::string_view reason) {
    constexpr std::string_view mark = "error message = '";
    const std::size_t at = reason.find(mark);
    if (at == std::string_view::npos) return reason;
    reason.remove_prefix(at + mark.size());
    return reason.substr(0, reason.find('\''));
}

}  // namespace

void prepare_hdf5() {
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
