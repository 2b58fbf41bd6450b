// SPDX-License-Identifier: Apache-2.0
// Messages about a failed handler in which a process ran.
//
// Thread: the thread whose handler has failed.
#pragma once

#include <exception>
#include <string>

namespace nw {

class FaultGuard;

// Stores the exception's message in the guard. If a process threw the exception, the message also
// contains the exception's type.
void note_exception(FaultGuard& guard, const std::exception& error);

// Returns, for example, "process Shop::customer(int), after co_await of Delay at shop.cpp:27: ", or
// an empty text if no process ran. The next call returns an empty text.
std::string take_failed_process();

}  // namespace nw
