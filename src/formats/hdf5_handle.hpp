// What the HDF5 library (its C interface) hands out, closed when it goes, and its errors as ours.
#pragma once

#include <string>
#include <utility>

#include <hdf5.h>

namespace nw {

// Which version the library has, if it is not the one that the program was compiled for; else empty.
std::string other_hdf5_version();

// Nothing is printed by the library, and nothing is left to do for it when the process ends: else it
// would try once more to write what a full disk has refused.
void prepare_hdf5();

// Throws MachineError with the path and the library's reason. Requires: the last call has failed.
[[noreturn]] void fail_hdf5(const std::string& path);

// The library's return value, which is negative where it has failed.
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

    // Closes now; for what writes when it is closed.
    void close(const std::string& path) { checked_hdf5(close_(std::exchange(id_, -1)), path); }

  private:
    hid_t id_;
    Close close_;
};

}  // namespace nw
