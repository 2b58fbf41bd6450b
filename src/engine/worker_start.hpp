// SPDX-License-Identifier: Apache-2.0
// Prepares a thread for handlers: warms up the runtime and starts the model's libraries.
#pragma once

#include <numawarp/model.hpp>

namespace nw {

// Creates the objects that the runtime would otherwise create at their first use. Then calls
// Model::on_worker_start(). Both steps run in platform mode: memory that they allocate comes from
// libc and is kept. Throws SetupError, which names the hook.
// Thread: each thread that runs handlers, after it was adopted and before it builds LPs.
void start_worker(Model& model);

}  // namespace nw
