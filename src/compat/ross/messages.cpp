// SPDX-License-Identifier: Apache-2.0
#include "messages.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "app/embedding.hpp"

namespace nw::ross {

using embedding::page_bytes;

MessageLayout layout;

namespace {

constinit Call of_no_worker;

constexpr std::size_t rounded(std::size_t bytes, std::size_t to) {
    return (bytes + to - 1) / to * to;
}

bool describe(const void* address, char* line, std::size_t bytes) noexcept {
    if (!this_call().contains(address)) return false;
    std::snprintf(line, bytes, "message larger than declared: tw_define_lps() received %zu bytes",
                  g_tw_msg_sz);
    return true;
}

}  // namespace

MessageLayout::MessageLayout(std::size_t declared, bool keeps)
    : message(std::max(rounded(declared, sizeof last), sizeof last)),
      kept(keeps ? bits_bytes + message : 0) {
    unsigned char beyond[sizeof ours];
    for (std::size_t i = 0; i < sizeof beyond; ++i)
        beyond[i] = message - sizeof beyond + i >= declared ? 0xff : 0;
    std::memcpy(&ours, beyond, sizeof ours);
    last = 0x9e3779b97f4a7c15 & ours;
}

std::string larger_than_declared() {
    return fmt::format("message larger than declared: tw_define_lps() received {} bytes",
                       g_tw_msg_sz);
}

// Reserves a range of addresses: the pages of the handled message, and then the pages of each
// event. Each message is at the end of its pages, and an inaccessible page follows. A message that
// is sent has its tw_event before it, and the handled message has its tw_bf before it.
void Call::map() {
    const std::size_t room_before = std::max(sizeof(tw_event), layout.kept);
    const std::size_t room = rounded(room_before + layout.message, page_bytes);
    stride = room + page_bytes;
    bytes_ = (1 + events_max) * stride;
    pages_ = embedding::reserve_pages(bytes_);
    embedding::open_pages(pages_, room);
    embedding::describe_addresses_by(describe);
    handled_ = pages_ + room - layout.message;
    first_ = end = reinterpret_cast<std::uintptr_t>(handled_ + stride - sizeof(tw_event));
    before = layout.message - sizeof layout.last;
    last = layout.last;
}

Call::~Call() {
    if (pages_ == nullptr) return;
    numawarp_ross_this_call = &of_no_worker;
    embedding::release_pages(pages_, bytes_);
}

void Call::reserve() {
    static thread_local std::unique_ptr<Call> own;
    if (own != nullptr) return;
    auto made = std::make_unique<Call>();
    made->map();
    own = std::move(made);
    numawarp_ross_this_call = own.get();
}

bool Call::make_ready() {
    if (end == first_ + events_max * stride) return false;
    const std::size_t room = stride - page_bytes;
    auto* const beyond = reinterpret_cast<std::byte*>(end) + sizeof(tw_event) + layout.message;
    embedding::open_pages(beyond - room, room);
    end += stride;
    return true;
}

}  // namespace nw::ross

__thread numawarp_ross_call* numawarp_ross_this_call = &nw::ross::of_no_worker;
