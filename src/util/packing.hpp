// SPDX-License-Identifier: Apache-2.0
// Values as bytes, for another process of the same program: messages between ranks, and the content
// of a saved run. One list of the values serves both directions, because a Packer and an Unpacker
// can visit it:
//
//     template <class Part, class Figures>
//     void visit_parts(Part& part, Figures& figures) { part(figures.pages); part(figures.names); }
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "util/check.hpp"

namespace nw {

// Thrown if packed bytes are too short or contain impossible values.
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
    // Packs the number of items, then calls visit(item) for each item.
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

// Requires: the values are unpacked in the order in which a Packer packed them. Throws DamagedBytes
// if there are too few bytes.
class Unpacker {
  public:
    explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

    template <class T>
    void operator()(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(&value, next(sizeof value), sizeof value);
    }
    // Unpacks the number of items, then calls visit(item) for each item. Requires: each item takes
    // at least one byte, so that a wrong number is detected before memory is allocated.
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
