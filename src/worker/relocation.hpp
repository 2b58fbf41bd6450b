// What a worker does when placement wants it elsewhere (rank/worker_seats.hpp): it binds itself to the CPU
// that it is given and asks for its groups' pages, which pagemigd brings; or, when that has been too slow, it
// fetches them itself, as all workers do at the same time. Nobody executes meanwhile: that is the pause in
// which AsymSched migrates all at once.
//
// Owner: Worker. Thread: the worker's.
#pragma once

#include <cstdint>

#include "worker/worker_core.hpp"

namespace nw {

class Relocation {
  public:
    explicit Relocation(WorkerCore& core) : core_(core) {}

    // Cost: one comparison, unless there are orders.
    void step();

  private:
    void carry_out();
    void ask_for_pages();
    void fetch_pages();

    WorkerCore& core_;
    std::uint32_t orders_seen_ = 0;
    std::uint32_t fetches_seen_ = 0;
};

}  // namespace nw
