// SPDX-License-Identifier: Apache-2.0
// Handlers make libc and its loader allocate memory that libc keeps: buffers of streams,
// thread-local storage, libraries. In two cases, a signal handler of the program interrupts each
// event handler instead. Each LP keeps blocks of known bytes. A damaged byte changes the LP's
// messages, and so the digest.
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdio_ext.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <string>
#include <string_view>
#include <vector>

#include <numawarp/model.hpp>

namespace {

std::string what;
std::string folder;  // of the plugin
std::FILE* log_file = nullptr;
std::array<pthread_key_t, 100> keys;
unsigned (*sum_of)(const unsigned char*, unsigned) = nullptr;
std::atomic<int> ticks{0};

bool is_signalled() { return what == "signal" || what == "sigaction"; }

void load_plugin() {
    void* const library = dlopen((folder + "/scratch_plugin.so").c_str(), RTLD_NOW);
    if (library == nullptr) std::abort();
    sum_of = reinterpret_cast<decltype(sum_of)>(dlsym(library, "sum_of"));
}

void on_tick(int) {
    const int number = ticks.fetch_add(1) + 1;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    struct sigaction present {};
    sigaction(SIGALRM, nullptr, &present);
    if (what == "signal" && present.sa_handler != on_tick) std::abort();
    sigaction(SIGALRM, &present, nullptr);
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    // Memory that the program keeps from one signal to the next, in handlers of different LPs.
    thread_local void* kept = nullptr;
    std::free(kept);
    kept = std::malloc(100);
    if (number % 500 == 1) {
        const pid_t child = fork();
        if (child == 0) _exit(0);
        waitpid(child, nullptr, 0);
    }
}

void on_tick_with_details(int signal, siginfo_t* details, void*) {
    if (details->si_signo != signal) std::abort();
    on_tick(signal);
}

// Called before the run.
void prepare() {
    if (what == "popen") log_file = popen("cat > /dev/null", "w");
    if (what == "freopen") log_file = std::freopen("/dev/null", "w", stderr);
    if (what == "wide") log_file = std::fopen("/dev/null", "w");
    if (what == "wide-reopened") {
        log_file = std::fopen("/dev/null", "w");
        std::fputwc(L'a', log_file);
        log_file = std::freopen("/dev/null", "w", log_file);
    }
    if (what == "wide-stdout") log_file = stdout;
    if (what == "plugin-main") load_plugin();
    for (pthread_key_t& key : keys) pthread_key_create(&key, nullptr);
    if (what == "signal") {
        if (std::signal(SIGALRM, on_tick) != SIG_DFL) std::abort();
        if (std::signal(SIGALRM, on_tick) != on_tick) std::abort();
    }
    if (what == "sigaction") {
        struct sigaction action {};
        action.sa_sigaction = on_tick_with_details;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        sigaction(SIGALRM, &action, nullptr);
    }
    if (what == "line-buffered") std::setvbuf(stdout, nullptr, _IOLBF, 0);
}

void call_libc(std::uint64_t& seen, const std::string& text) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
    const auto count = static_cast<unsigned>(text.size());
    if (what == "popen" || what == "freopen") std::fprintf(log_file, "event %d\n", 1);
    if (what.starts_with("wide")) std::fwprintf(log_file, L"event %d\n", 1);
    if (what == "stdin") static_cast<void>(std::getchar());
    if (what == "backtrace") {
        std::array<void*, 16> frames;
        const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
        std::free(backtrace_symbols(frames.data(), depth));
    }
    if (what == "plugin-handler" && sum_of == nullptr) load_plugin();
    if (sum_of != nullptr) seen += sum_of(bytes, count);
    // The signal handler runs before the system call returns.
    if (is_signalled()) syscall(SYS_tgkill, getpid(), gettid(), SIGALRM);
    if (what == "keys") pthread_setspecific(keys[60], &keys);
    if (what == "tss") tss_set(keys[70], &keys);
}

class Shelf final : public nw::LogicalProcess {
  public:
    explicit Shelf(nw::LpId) {}

    void on_start(nw::Context& context) override {
        send(context);
        send(context);
    }

    void on_event(nw::Context& context, const nw::Event&) override {
        ++events_;
        for (const std::string& text : kept_)
            damaged_ += static_cast<std::uint64_t>(
                std::count_if(text.begin(), text.end(),
                              [&](char letter) { return letter != letter_of(text.size()); }));
        const std::size_t length = 20 + events_ * 37 % 4000;
        std::string text(length, letter_of(length));
        call_libc(seen_, text);
        if (kept_.size() > 30) kept_.erase(kept_.begin(), kept_.begin() + 7);
        kept_.push_back(std::move(text));
        send(context);
    }

  private:
    static char letter_of(std::size_t length) { return static_cast<char>('a' + length % 26); }

    void send(nw::Context& context) const {
        const auto to = static_cast<std::uint32_t>(context.random().below(context.lps()));
        context.schedule(nw::LpId{to}, context.random().exponential(1.0), 0, damaged_ + seen_);
    }

    std::uint64_t events_ = 0;
    std::uint64_t damaged_ = 0;
    std::uint64_t seen_ = 0;
    std::vector<std::string> kept_;
};

class LibcKeeper final : public nw::Model {
  public:
    LibcKeeper()
        : Model("libc_keeper", "calls functions of libc that keep allocated memory, for tests") {}

    void on_process_start() override {
        if (what == "plugin-process") load_plugin();
    }

    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = 16;
        setup.until = 60;
        setup.payload_bytes_max = sizeof(std::uint64_t);
        setup.process = nw::process<Shelf>();
        return setup;
    }
};

}  // namespace

// usage: libc_keeper WHAT FOLDER-OF-THE-PLUGIN OPTION...
int main(int argc, char** argv) {
    if (argc < 3) return 2;
    what = argv[1];
    folder = argv[2];
    argv[2] = argv[0];
    prepare();
    const int code = nw::run<LibcKeeper>(argc - 2, argv + 2);
    if (is_signalled() && ticks == 0) return 9;
    if (what == "line-buffered" && __flbf(stdout) == 0) return 8;
    return code;
}
