// SPDX-License-Identifier: Apache-2.0
// Handles of the HDF5 library (its C interface). The destructor of a handle closes it. The
// library's errors become MachineError.
#pragma once

#include <string>
#include <utility>

#include <hdf5.h>

namespace nw {

// Returns a message if the library does not have the version for which the program was compiled,
// else an empty string.
std::string other_hdf5_version();

// Sets up the library so that it prints nothing, and does nothing when the process ends. Without
// this set-up, the library would try once more, at the end of the process, to write data that a
// full disk has refused.
void prepare_hdf5();

// Throws MachineError with the path and the library's reason. Requires: the last call has failed.
[[noreturn]] void fail_hdf5(const std::string& path);

// Returns `value`, which a function of the library returned. Throws if it is negative: the function
// has failed.
template <class Value>
Value checked_hdf5(Value value, const std::string& path) {
    if (value < 0) fail_hdf5(path);
    return value;
}

class Hdf5Handle {
  public:
    using Close = herr_t (*)(hid_t);

    Hdf5Handle(hid_t id, Close closed_by, const std::string& path)
        : id_(checked_hdf5(id, path)), close_(closed_by) {}
    Hdf5Handle(Hdf5Handle&& other) noexcept
        : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Hdf5Handle& operator=(Hdf5Handle&&) = delete;
    ~Hdf5Handle() {
        if (id_ >= 0) close_(id_);
    }

    operator hid_t() const noexcept { return id_; }

    // Closes the handle and throws on an error. For objects that are written when they are closed.
    void close(const std::string& path) { checked_hdf5(close_(std::exchange(id_, -1)), path); }

  private:
    hid_t id_;
    Close close_;
};

}  // namespace nw
