// A function of libc or libstdc++ that one of ours stands in for.
#pragma once

#include <dlfcn.h>

#include <atomic>

#include "numa/handler/heap_scope.hpp"

namespace nw::interpose {

// Looked up at its first use, in platform mode: the next definition in the search order. Constant
// initialised, since it may be called before any constructor has run, and not a static of a
// function, whose guard is one of the functions we stand in for. A race finds the same address
// twice.
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

// The original of a function that is declared: original_of(&::strerror, "strerror").
template <class Result, class... Arguments>
constexpr Original<Result, Arguments...> original_of(Result (*)(Arguments...), const char* name) {
    return Original<Result, Arguments...>(name);
}

}  // namespace nw::interpose
