// What is private, for tests that damage a structure to see that its validate() says so: production code
// needs no friend for it. An explicit instantiation may name private members ([temp.spec]); the function
// that it defines hands the pointer to member out.
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
