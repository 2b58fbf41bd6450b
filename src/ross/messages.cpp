#include "messages.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "numa/handler/fault_guard.hpp"
#include "numa/os/os.hpp"

namespace nw::ross {

MessageLayout layout;
__thread MessagePages* messages = nullptr;

namespace {

constexpr std::size_t rounded(std::size_t bytes, std::size_t to) {
    return (bytes + to - 1) / to * to;
}

bool describe(const void* address, char* line, std::size_t bytes) noexcept {
    if (messages == nullptr || !messages->contains(address)) return false;
    std::snprintf(line, bytes, "message larger than declared: tw_define_lps() says %zu bytes",
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
    return fmt::format("message larger than declared: tw_define_lps() says {} bytes", g_tw_msg_sz);
}

// One run of addresses: the handled message's pages, then those of each event, and behind each a page that nobody
// may touch. Before a message stands an event, or what is kept.
void MessagePages::map() {
    const std::size_t before = std::max(sizeof(tw_event), layout.kept);
    const std::size_t room = rounded(before + layout.message, page_bytes);
    stride_ = room + page_bytes;
    bytes_ = (1 + events_max) * stride_;
    void* pages = nullptr;
    if (linux_os().reserve(nullptr, bytes_, pages) != 0 ||
        linux_os().set_access(pages, room, Access::write) != 0)
        throw std::bad_alloc();
    FaultGuard::describe_addresses_by(describe);
    pages_ = static_cast<std::byte*>(pages);
    handled_ = pages_ + room - layout.message;
    first_ = handled_ + stride_ - sizeof(tw_event);
    next_ = beyond_ready_ = first_;
}

MessagePages::~MessagePages() {
    if (pages_ != nullptr) linux_os().unreserve(pages_, bytes_);
}

void MessagePages::reserve() {
    static thread_local std::unique_ptr<MessagePages> own;
    if (own != nullptr) return;
    auto made = std::make_unique<MessagePages>();
    made->map();
    own = std::move(made);
    messages = own.get();
}

bool MessagePages::make_ready() {
    if (beyond_ready_ == first_ + events_max * stride_) return false;
    std::byte* const end = beyond_ready_ + sizeof(tw_event) + layout.message;
    const std::size_t room = stride_ - page_bytes;
    if (linux_os().set_access(end - room, room, Access::write) != 0) throw std::bad_alloc();
    beyond_ready_ += stride_;
    return true;
}

}  // namespace nw::ross
