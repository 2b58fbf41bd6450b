// SPDX-License-Identifier: Apache-2.0
// A thread that serves the network while the workers of a rank build and start their LPs.
// Constructors and on_start() may take long. Without this thread, messages from other ranks would
// wait in MPI during this time, and a rank that sends many messages would be delayed.
#pragma once

#include <chrono>
#include <stop_token>
#include <thread>

#include "engine/worker_threads.hpp"

namespace nw {

class SetupPump {
  public:
    // step() moves the messages that are ready, and must not throw.
    template <class Step>
    SetupPump(bool is_wanted, Step step) {
        if (!is_wanted) return;
        thread_ = start_thread<std::jthread>(
            "that serves the network while LPs start", [step](const std::stop_token& stop) {
                constexpr std::chrono::microseconds between_steps{200};
                while (!stop.stop_requested()) {
                    step();
                    std::this_thread::sleep_for(between_steps);
                }
            });
    }

    void end() {
        thread_.request_stop();
        if (thread_.joinable()) thread_.join();
    }

  private:
    std::jthread thread_;
};

}  // namespace nw
