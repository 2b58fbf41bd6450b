// What a thread needs before it can run handlers: the runtime warmed up, and the model's libraries started.
#pragma once

#include <numawarp/model.hpp>

namespace nw {

// Makes what the runtime would make lazily, then calls Model::on_worker_start(), in platform mode: what
// is allocated there is libc's, and stays. Throws SetupError, which names the hook.
// Thread: each that runs handlers, once it is adopted and before it builds LPs.
void start_worker(Model& model);

}  // namespace nw
