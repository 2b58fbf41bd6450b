// SPDX-License-Identifier: Apache-2.0
// A function of libc or libstdc++ that the interposer replaces.
#pragma once

#include <dlfcn.h>

#include <atomic>

#include "memory/handler/heap_scope.hpp"

namespace nw::interpose {

// Finds the next definition in the search order, at the first use and in platform mode. The object
// is constant-initialized, because it may be used before any constructor has run. It must not be a
// static of a function, because the interposer replaces the functions that guard such statics.
// Threads that find the definition at the same time store the same address.
template <class Result, class... Arguments>
class Original {
  public:
    using Function = Result (*)(Arguments...);

    constexpr explicit Original(const char* name) noexcept : name_(name) {}

    Function function() noexcept {
        void* address = address_.load(std::memory_order_relaxed);
        if (address == nullptr) [[unlikely]] {
            const PlatformScope platform;
            address = ::dlsym(RTLD_NEXT, name_);
            address_.store(address, std::memory_order_relaxed);
        }
        return reinterpret_cast<Function>(address);
    }

    Result operator()(Arguments... arguments) { return function()(arguments...); }

  private:
    const char* name_;
    std::atomic<void*> address_{nullptr};
};

// The original of a declared function: original_of(&::strerror, "strerror").
template <class Result, class... Arguments>
constexpr Original<Result, Arguments...> original_of(Result (*)(Arguments...), const char* name) {
    return Original<Result, Arguments...>(name);
}

}  // namespace nw::interpose
