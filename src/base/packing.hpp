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

class Packer {
  public:
    template <class T>
    void operator()(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    template <class T>
    void operator()(const std::vector<T>& values) {
        (*this)(values.size());
        for (const T& value : values) (*this)(value);
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

// Requires: what is asked for is what was packed, in that order. InternalError where the bytes do not
// suffice: their checksum was looked at before.
class Unpacker {
  public:
    explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

    template <class T>
    void operator()(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(&value, next(sizeof value), sizeof value);
    }
    template <class T>
    void operator()(std::vector<T>& values) {
        std::size_t count = 0;
        (*this)(count);
        NW_CHECK(count <= bytes_.size());
        values.resize(count);
        for (T& value : values) (*this)(value);
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
        NW_CHECK(bytes <= bytes_.size() - at_);
        at_ += bytes;
        return bytes_.data() + at_ - bytes;
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
};

}  // namespace nw
