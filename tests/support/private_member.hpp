// SPDX-License-Identifier: Apache-2.0
// Access to private members, for tests that damage a structure and check that its validate()
// detects the damage. Production code needs no friend declaration for this access: an explicit
// instantiation may name private members ([temp.spec]). The function that the instantiation defines
// returns the pointer to member.
//
//     namespace nw::test {
//     NW_TEST_OPEN(PendingOfWorker, &Worker::pending_);
//     }
//     worker.*opened(PendingOfWorker{})
#pragma once

namespace nw::test {

template <class Name, auto Member>
struct Opened {
    friend auto opened(Name) { return Member; }
};

}  // namespace nw::test

#define NW_TEST_OPEN(Name, Member) \
    struct Name {                  \
        friend auto opened(Name);  \
    };                             \
    template struct Opened<Name, Member>
