// SPDX-License-Identifier: Apache-2.0
// Handlers call functions of libc that allocate memory at first use, open something or change the
// process. Afterwards, the LP's heap contains no memory of libc. Calls that cannot be undone are
// refused.
//
// The tests are empty under a sanitizer, because the sanitizer replaces these functions.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <iconv.h>
#include <locale.h>
#include <mntent.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <locale>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/libc_calls.hpp"
#include "tests/unit/memory/guarded_lp.hpp"

using namespace nw;
using namespace nw::test;

namespace {

// A signal handler for std::signal().
void on_signal(int) {}

void* do_nothing(void*) { return nullptr; }

}  // namespace

TEST_CASE("interposer: memory that libc allocates at first use is not in the LP's heap") {
    if (!malloc_is_interposed) return;
    GuardedLp lp;
    Snapshot* const before = lp.heap.take(lp.group.platform());
    const std::vector<std::pair<const char*, std::function<void()>>> calls = {
        {"strerror", [] { static_cast<void>(std::strerror(77777)); }},
        {"strerror_l", [] { static_cast<void>(::strerror_l(2, ::uselocale(nullptr))); }},
        {"strsignal", [] { static_cast<void>(::strsignal(7)); }},
        {"dlerror",
         [] {
             static_cast<void>(::dlopen("/nowhere/at_all.so", RTLD_NOW));
             static_cast<void>(::dlerror());
         }},
        {"dlopen",
         [] {
             void* const library = ::dlopen("libm.so.6", RTLD_NOW);
             static_cast<void>(::dlsym(library, "no_such_thing"));
             static_cast<void>(::dlsym(library, "cos"));
             ::dlclose(library);
         }},
        {"iconv",
         [] {
             const iconv_t descriptor = ::iconv_open("UTF-16", "ISO-8859-15");
             char in[] = "\xa4 uro", out[64];
             char *from = in, *to = out;
             std::size_t left = sizeof in, room = sizeof out;
             ::iconv(descriptor, &from, &left, &to, &room);
             ::iconv_close(descriptor);
         }},
        {"newlocale",
         [] {
             const locale_t locale = ::newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
             const locale_t copy = ::duplocale(locale);
             ::freelocale(copy);
             ::freelocale(locale);
         }},
        {"uselocale",
         [] {
             const locale_t outer = ::uselocale(::newlocale(LC_ALL_MASK, "C.UTF-8", nullptr));
             wchar_t wide[8];
             static_cast<void>(std::mbstowcs(wide, "\xc3\xa9", 8));
             ::uselocale(outer);
         }},
        {"std::locale", [] { static_cast<void>(text_of(std::locale("C.UTF-8"))); }},
        {"setlocale that only reads", [] { static_cast<void>(::setlocale(LC_ALL, nullptr)); }},
        {"time zones",
         [] {
             ::tzset();
             const std::time_t now = 1'000'000'000;
             std::tm parts = *std::localtime(&now);
             char text[100];
             static_cast<void>(std::strftime(text, sizeof text, "%c %Z %EY", &parts));
             static_cast<void>(std::mktime(&parts));
             std::ostringstream out;
             out << std::put_time(&parts, "%c %Z");
         }},
        {"getaddrinfo",
         [] {
             addrinfo* found = nullptr;
             if (::getaddrinfo("127.0.0.1", "80", nullptr, &found) == 0) ::freeaddrinfo(found);
             if (::getaddrinfo("localhost", nullptr, nullptr, &found) == 0) ::freeaddrinfo(found);
         }},
        {"gethostbyname", [] { static_cast<void>(::gethostbyname("localhost")); }},
        {"getpwnam",
         [] {
             static_cast<void>(::getpwnam("root"));
             static_cast<void>(::getgrgid(0));
         }},
        {"files",
         [] {
             std::FILE* const file = std::fopen("/proc/self/status", "r");
             char* line = nullptr;
             std::size_t room = 0;
             while (::getline(&line, &room, file) > 0) {
             }
             std::free(line);
             std::fclose(file);
             std::ifstream stream("/proc/self/status");
             std::string word;
             stream >> word;
         }},
        {"memory streams",
         [] {
             char* text = nullptr;
             std::size_t bytes = 0;
             std::FILE* const file = ::open_memstream(&text, &bytes);
             std::fprintf(file, "%2000d", 7);
             std::fclose(file);
             std::free(text);
         }},
        {"big printf",
         [] {
             std::vector<char> text(100'000);
             std::snprintf(text.data(), text.size(), "%.9000f %50000d", 1e300, 7);
         }},
        {"wide text",
         [] {
             std::wostringstream text;
             text << 1.5 << L' ' << 77;
         }},
    };
    for (int again = 0; again < 3; ++again) {
        for (const auto& [name, call] : calls) {
            INFO(name << ", time " << again);
            CHECK(lp.handle(call) == "");
            CHECK(lp.heap.equals(*before));
            lp.heap.restore(*before);
        }
    }
    LpHeap::drop(before, lp.group.platform());
    CHECK(lp.heap.used_bytes() == 0);
}

TEST_CASE("interposer: a call that changes the process is refused only in a handler") {
    if (!malloc_is_interposed) return;
    GuardedLp lp;
    static char variable[] = "NUMAWARP_TEST=1";
    static char program[] = "/bin/true";
    char* arguments[] = {program, nullptr};
    struct sigaction action {};
    sigset_t signals;
    sigemptyset(&signals);
    pthread_t thread{};
    const std::vector<std::pair<const char*, std::function<void()>>> calls = {
        {"setlocale", [] { ::setlocale(LC_ALL, "C"); }},
        {"std::locale::global", [] { std::locale::global(std::locale::classic()); }},
        {"setenv", [] { ::setenv("NUMAWARP_TEST", "1", 1); }},
        {"putenv", [] { ::putenv(variable); }},
        {"unsetenv", [] { ::unsetenv("NUMAWARP_TEST"); }},
        {"rand", [] { static_cast<void>(std::rand()); }},
        {"srand", [] { std::srand(5); }},
        {"drand48", [] { static_cast<void>(::drand48()); }},
        {"chdir", [] { static_cast<void>(!::chdir("/")); }},
        {"umask", [] { ::umask(022); }},
        {"signal", [] { std::signal(SIGUSR1, on_signal); }},
        {"sigaction", [&] { ::sigaction(SIGUSR1, &action, nullptr); }},
        {"pthread_sigmask", [&] { ::pthread_sigmask(SIG_BLOCK, &signals, nullptr); }},
        {"pthread_create", [&] { ::pthread_create(&thread, nullptr, do_nothing, nullptr); }},
        {"pthread_create", [] { std::thread(do_nothing, nullptr).join(); }},
        {"fork", [] { ::fork(); }},
        {"vfork", [] { ::vfork(); }},
        {"execv", [&] { ::execv(program, arguments); }},
        {"execl", [&] { ::execl(program, program, nullptr); }},
        {"system", [] { static_cast<void>(!std::system("true")); }},
        {"popen", [] { static_cast<void>(::popen("true", "r")); }},
        {"lgamma",
         [] {
             volatile double x = -0.5;
             x = std::lgamma(x);
         }},
        {"lgammaf",
         [] {
             volatile float x = -0.5f;
             x = std::lgamma(x);
         }},
        {"freopen", [] { static_cast<void>(std::freopen("/dev/null", "w", stdin)); }},
    };
    for (const auto& [name, call] : calls) {
        const std::string failure = lp.handle(call);
        CHECK(failure.find("the handler called " + std::string(name) + "()") == 0);
        CHECK(current_heap == nullptr);
    }
    CHECK(lp.handle([] { ::sigaction(SIGUSR1, nullptr, nullptr); }) == "");
    CHECK(lp.handle([] { static_cast<void>(std::getenv("HOME")); }) == "");

    CHECK(::setenv("NUMAWARP_TEST", "2", 1) == 0);
    CHECK(std::getenv("NUMAWARP_TEST") == std::string("2"));
    CHECK(std::system("exit 7") != 0);
    std::srand(5);
    const int drawn = std::rand();
    std::srand(5);
    CHECK(std::rand() == drawn);
    bool ran = false;
    std::thread([&] { ran = true; }).join();
    CHECK(ran);
    volatile double x = -0.5;
    CHECK(std::lgamma(x) > 1.2);
    if (const char* const coded = ::crypt("word", "ab")) CHECK(std::strlen(coded) >= 13);
    CHECK(signgam == -1);  // lgamma() is refused because this program reads signgam
}

TEST_CASE("interposer: each function that is not allowed in handlers is refused with its name") {
    if (!malloc_is_interposed) return;
    GuardedLp lp;
    for (const test::RefusedCall& refused : test::refused_calls()) {
        INFO(refused.name);
        const std::string failure = lp.handle(refused.call);
        INFO(failure);
        const bool is_named =
            failure.find(" called " + std::string(refused.name) + "(") != std::string::npos ||
            failure.find("a call of " + std::string(refused.name) + "(") != std::string::npos;
        CHECK((is_named || failure.find("raised by the handler itself") != std::string::npos));
    }
}

TEST_CASE("interposer: a handler does not continue the strtok() of another handler") {
    if (!malloc_is_interposed) return;
    GuardedLp lp;
    static char text[] = "one two three";
    const char* second = nullptr;
    CHECK(lp.handle([&] {
        std::strtok(text, " ");
        second = std::strtok(nullptr, " ");
    }) == "");
    CHECK(second == text + 4);
    CHECK(
        lp.handle([] {
              std::strtok(nullptr, " ");
          }).find("the handler called strtok(nullptr, …) to continue the text of another event") ==
        0);
}

TEST_CASE("interposer: a handler can close only files that it opened") {
    if (!malloc_is_interposed) return;
    GuardedLp lp;
    Snapshot* const before = lp.heap.take(lp.group.platform());
    const auto open_files = [] {
        int count = 0;
        for (int file = 0; file < 256; ++file) count += ::fcntl(file, F_GETFD) != -1 ? 1 : 0;
        return count;
    };
    const int open_before = open_files();
    const auto left_open = [](const std::string& failure) {
        return failure.find("the handler did not close a resource that it opened") == 0;
    };
    CHECK(left_open(lp.handle([] {
        std::FILE* const file = std::fopen("/proc/self/status", "r");
        std::fgetc(file);  // the file's buffer is in the LP's heap
    })));
    CHECK(left_open(lp.handle([] { static_cast<void>(::iconv_open("UTF-16", "UTF-8")); })));
    CHECK(left_open(lp.handle([] { static_cast<void>(new std::ifstream("/proc/self/status")); })));
    CHECK(left_open(lp.handle([] { static_cast<void>(::opendir("/")); })));
    CHECK(left_open(lp.handle([] { static_cast<void>(::setmntent("/proc/mounts", "r")); })));
    CHECK(left_open(lp.handle([] {
        static wchar_t* text;
        static std::size_t count;
        static_cast<void>(::open_wmemstream(&text, &count));
    })));
    CHECK(left_open(lp.handle(
        [] { static_cast<void>(new std::filesystem::directory_iterator("/proc/self")); })));
    CHECK(lp.handle([] {
        static_cast<void>(std::fopen("/proc/self/status", "r"));
        throw std::runtime_error("in between");
    }) != "");
    CHECK(lp.handle([] {
                std::FILE* const file = std::fopen("/proc/self/status", "r");
                volatile int* volatile nowhere = nullptr;
                *nowhere = std::fgetc(file);
            }).find("SIGSEGV") == 0);
    lp.heap.restore(*before);
    CHECK(open_files() == open_before);
    CHECK(lp.handle([] {
        for (int i = 0; i < 1000; ++i) static_cast<void>(std::tmpfile());
    }) != "");
    lp.heap.restore(*before);
    CHECK(open_files() == open_before);

    std::FILE* const older = std::fopen("/proc/self/status", "r");
    CHECK(lp.handle([&] {
                std::fclose(older);
            }).find("the handler closed a resource that it had not") == 0);
    CHECK(std::fgetc(older) != EOF);
    CHECK(std::fclose(older) == 0);
    CHECK(lp.handle([] {
                ::uselocale(::newlocale(LC_ALL_MASK, "C.UTF-8", nullptr));
            }).find("the handler changed its thread's locale") == 0);
    CHECK(::uselocale(nullptr) == LC_GLOBAL_LOCALE);
    lp.heap.restore(*before);
    LpHeap::drop(before, lp.group.platform());
}

TEST_CASE("interposer: a stream of the process has its buffer before a handler writes to it") {
    if (!malloc_is_interposed) return;
    GuardedLp lp;
    std::FILE* const log = std::tmpfile();
    CHECK(lp.handle([&] { std::fprintf(log, "line %d\n", 1); }) == "");
    CHECK(lp.heap.used_bytes() == 0);
    CHECK(std::fclose(log) == 0);
}

namespace {

std::once_flag once_for_table;
std::vector<int>* table_made_once = nullptr;

struct CrashesOnce {
    CrashesOnce() {
        static bool crashed = false;
        if (std::exchange(crashed, true)) return;
        volatile int* volatile nowhere = nullptr;
        *nowhere = 1;
    }
    int number = 7;
};

int number_of_static() {
    static const CrashesOnce object;
    return object.number;
}

std::once_flag crashing_once;

struct ThrowsTwice {
    ThrowsTwice() {
        static int times = 0;
        if (++times < 3) throw std::runtime_error("not yet, and in words that need memory");
    }
};

void use_throwing_static() { static const ThrowsTwice object; }

}  // namespace

TEST_CASE("interposer: the result of call_once survives the handler that called it") {
    if (!malloc_is_interposed) return;
    GuardedLp lp;
    CHECK(lp.handle([] {
        std::call_once(once_for_table, [] { table_made_once = new std::vector<int>(1000, 3); });
    }) == "");
    CHECK(lp.heap.used_bytes() == 0);
    CHECK_FALSE(is_group_memory(table_made_once->data()));
}

TEST_CASE("interposer: another thread can repeat an initializer that crashed") {
    if (!malloc_is_interposed) return;
    GuardedLp lp;
    CHECK(lp.handle([] { static_cast<void>(number_of_static()); }).find("SIGSEGV") == 0);
    // Later allocations are in the LP's heap again.
    CHECK(lp.handle([] { delete new int(3); }) == "");
    bool mine = false;
    CHECK(lp.handle([&] {
        int* const number = new int(5);
        mine = is_group_memory(number);
        delete number;
    }) == "");
    CHECK(mine);
    int number = 0;
    std::thread([&] { number = number_of_static(); }).join();
    CHECK(number == 7);

    int calls = 0;
    const auto call = [&] {
        std::call_once(crashing_once, [&] {
            if (++calls > 1) return;
            volatile int* volatile nowhere = nullptr;
            *nowhere = 1;
        });
    };
    CHECK(lp.handle(call).find("SIGSEGV") == 0);
    std::thread(call).join();
    CHECK(calls == 2);
}

TEST_CASE("interposer: an exception from an initializer may be kept and released") {
    if (!malloc_is_interposed) return;
    GuardedLp lp;
    std::exception_ptr* kept = nullptr;
    REQUIRE(lp.handle([&] {
        try {
            use_throwing_static();
        } catch (...) {
            kept = new std::exception_ptr(std::current_exception());
        }
    }) == "");
    Snapshot* const snapshot = lp.heap.take(lp.group.platform());
    for (int again = 0; again < 3; ++again) {
        CHECK(lp.handle([&] { *kept = nullptr; }) == "");
        lp.heap.restore(*snapshot);
    }
    CHECK(lp.handle([&] { std::rethrow_exception(*kept); }).find("not yet") == 0);
    LpHeap::drop(snapshot, lp.group.platform());
}

// --- Calls of free() by libc and by handlers ---

namespace {

char* of_libc = nullptr;

// libc calls this function, which frees memory of libc.
[[gnu::noinline]] int free_and_compare(const void*, const void*) {
    if (of_libc == nullptr) return 0;
    std::free(std::exchange(of_libc, nullptr));
    return 0;
}
// An optimizing compiler replaces this call by a jump, so free() returns to the caller of
// free_last().
[[gnu::noinline]] void free_last(void* memory) { std::free(memory); }

}  // namespace

TEST_CASE("interposer: a callback that libc calls in a handler cannot free memory of libc") {
    if (!malloc_is_interposed) return;
    GuardedLp lp;
    for (const bool by_callback : {true, false}) {
        of_libc = static_cast<char*>(std::malloc(100));
        char* const kept = of_libc;
        std::strcpy(kept, "still there");
        const std::string failure = lp.handle([&] {
            int numbers[2] = {2, 1};
            if (by_callback)
                std::qsort(numbers, 2, sizeof(int), free_and_compare);
            else
                free_last(std::exchange(of_libc, nullptr));
        });
        CHECK(failure == describe(HeapFault::not_from_an_lp));
        CHECK(kept == std::string("still there"));
        std::free(kept);
    }
}

TEST_CASE("interposer: a handler that enlarges a string of the process is reported") {
    if (!malloc_is_interposed) return;
    GuardedLp lp;
    std::string shared(100, 's');
    const char* const text = shared.data();
    // libstdc++ frees the old text for the handler.
    CHECK(lp.handle([&] { shared.append(1000, 't'); }) == describe(HeapFault::not_from_an_lp));
    CHECK(std::string(text, 10) == "ssssssssss");
    std::memset(static_cast<void*>(&shared), 0, sizeof shared);
    new (&shared) std::string;
    ::operator delete(const_cast<char*>(text));
}
