// SPDX-License-Identifier: Apache-2.0
// Describes the program and its threads to the meter (util/meter_marks.hpp).
#pragma once

namespace nw {

// Reports the addresses of code and constants of the program, and of the libraries that are loaded
// now. Thread: any.
void announce_program();

// While an object lives, the meter recognizes this thread by the addresses of its stack. The first
// phase is `set_up`.
class MeteredThread {
  public:
    MeteredThread() noexcept;
    ~MeteredThread();
    MeteredThread(const MeteredThread&) = delete;
    MeteredThread& operator=(const MeteredThread&) = delete;
};

}  // namespace nw
