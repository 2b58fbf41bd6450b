// SPDX-License-Identifier: Apache-2.0
// While the object exists, the process can start only `threads` more threads: the stack of each
// thread has a gibibyte of addresses, and there are no addresses for more stacks.
#pragma once

#include <pthread.h>
#include <sys/resource.h>

#include <cstdint>
#include <fstream>

#include "numa/os/os.hpp"
#include "util/check.hpp"

namespace nw::test {

class FewThreads {
  public:
    explicit FewThreads(std::uint64_t threads) {
        NW_CHECK(pthread_attr_init(&usual_stack_) == 0);
        NW_CHECK(pthread_getattr_default_np(&usual_stack_) == 0);
        NW_CHECK(getrlimit(RLIMIT_AS, &usual_addresses_) == 0);
        pthread_attr_t large = usual_stack_;
        NW_CHECK(pthread_attr_setstacksize(&large, stack_bytes) == 0);
        NW_CHECK(pthread_setattr_default_np(&large) == 0);
        std::uint64_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        const rlimit few{pages * page_bytes + threads * stack_bytes + stack_bytes / 2,
                         usual_addresses_.rlim_max};
        NW_CHECK(setrlimit(RLIMIT_AS, &few) == 0);
    }
    ~FewThreads() {
        setrlimit(RLIMIT_AS, &usual_addresses_);
        pthread_setattr_default_np(&usual_stack_);
        pthread_attr_destroy(&usual_stack_);
    }
    FewThreads(const FewThreads&) = delete;
    FewThreads& operator=(const FewThreads&) = delete;

  private:
    static constexpr std::uint64_t stack_bytes = std::uint64_t{1} << 30;

    pthread_attr_t usual_stack_{};
    rlimit usual_addresses_{};
};

}  // namespace nw::test
