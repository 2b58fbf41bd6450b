// Values as bytes, for another process of the same program: what ranks tell each other, what a saved
// run is written as. One list of values, visited by a Packer or an Unpacker, does for both directions:
//
//     template <class Part, class Figures>
//     void visit_parts(Part& part, Figures& figures) { part(figures.pages); part(figures.names); }
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/check.hpp"

namespace nw {

// The bytes are not the bytes that were packed.
class DamagedBytes : public InternalError {
  public:
    DamagedBytes() : InternalError("packed bytes are damaged") {}
};

class Packer {
  public:
    template <class T>
    void operator()(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    // The number of items, and visit(item) for each.
    template <class Items, class Visit>
    void each(const Items& items, Visit&& visit) {
        (*this)(items.size());
        for (const auto& item : items) visit(item);
    }
    template <class T>
    void operator()(const std::vector<T>& values) {
        each(values, *this);
    }
    void operator()(const std::string& text) {
        (*this)(text.size());
        bytes_ += text;
    }
    template <class A, class B>
    void operator()(const std::pair<A, B>& pair) {
        (*this)(pair.first);
        (*this)(pair.second);
    }
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

// Requires: the same values in the same order as the Packer. Throws DamagedBytes where the bytes do not suffice.
class Unpacker {
  public:
    explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

    template <class T>
    void operator()(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(&value, next(sizeof value), sizeof value);
    }
    // Requires: each item takes at least one byte.
    template <class Items, class Visit>
    void each(Items& items, Visit&& visit) {
        std::size_t count = 0;
        (*this)(count);
        if (count > bytes_.size() - at_) throw DamagedBytes();
        items.resize(count);
        for (auto& item : items) visit(item);
    }
    template <class T>
    void operator()(std::vector<T>& values) {
        each(values, *this);
    }
    void operator()(std::string& text) {
        std::size_t count = 0;
        (*this)(count);
        text.assign(next(count), count);
    }
    template <class A, class B>
    void operator()(std::pair<A, B>& pair) {
        (*this)(pair.first);
        (*this)(pair.second);
    }

  private:
    const char* next(std::size_t bytes) {
        if (bytes > bytes_.size() - at_) throw DamagedBytes();
        at_ += bytes;
        return bytes_.data() + at_ - bytes;
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
};

}  // namespace nw
