// Words for a failed handler in which a process ran.
//
// Thread: the one whose handler has failed.
#pragma once

#include <exception>
#include <string>

namespace nw {

class FaultGuard;

// The words of an exception become the guard's description; where a process threw it, with the exception's type.
void note_exception(FaultGuard& guard, const std::exception& error);

// "process Shop::customer(int), after co_await of Delay at shop.cpp:27: "; empty where no process ran. The next call
// returns an empty text.
std::string take_failed_process();

}  // namespace nw
