// What a program tells the meter (base/meter_marks.hpp) of itself and its threads.
#pragma once

namespace nw {

// Which addresses are code and constants, of the program and its libraries as they are now. Thread: any.
void announce_program();

// While one lives, this thread is known by its stack; it begins with the phase `set_up`.
class MeteredThread {
  public:
    MeteredThread() noexcept;
    ~MeteredThread();
    MeteredThread(const MeteredThread&) = delete;
    MeteredThread& operator=(const MeteredThread&) = delete;
};

}  // namespace nw
