// SPDX-License-Identifier: Apache-2.0
// Models written as processes. The life of a customer, a machine or a message, from its beginning
// to its end, is one coroutine, which waits with co_await.
//
//     struct Bank final : nw::ProcessLp {
//         nw::Resource counter{env, 2};
//         explicit Bank(nw::LpId) {}
//         void start() override { env.start(arrivals()); }
//         nw::Process arrivals() {
//             for (;;) {
//                 co_await env.delay(env.random().exponential(10.0));
//                 env.start(customer());
//             }
//         }
//         nw::Process customer() {
//             auto turn = counter.request();
//             if (!co_await turn.within(3.0)) co_return;  // out of patience
//             co_await env.delay(env.random().exponential(12.0));
//         }
//     };
//
// The process library uses only the other headers of numawarp/. An environment is a member of an
// LP, and its processes are in the memory of that LP. So a rollback of the LP also restores its
// processes. docs/processes.md is the tutorial.
#pragma once

#include <numawarp/process/awaited.hpp>
#include <numawarp/process/conditions.hpp>
#include <numawarp/process/container.hpp>
#include <numawarp/process/coroutine.hpp>
#include <numawarp/process/environment.hpp>
#include <numawarp/process/normal.hpp>
#include <numawarp/process/outcome.hpp>
#include <numawarp/process/resource.hpp>
#include <numawarp/process/signal.hpp>
#include <numawarp/process/store.hpp>
#include <numawarp/process/timers.hpp>
