// refuse CALL=ERRNO[,CALL=ERRNO...] COMMAND...: runs COMMAND, for which the kernel answers these
// system calls with an error number, as in a container that forbids them (a seccomp filter).
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    const std::map<std::string, unsigned> numbers = {
        {"move_pages", SYS_move_pages},
        {"mbind", SYS_mbind},
        {"set_mempolicy", SYS_set_mempolicy},
        {"get_mempolicy", SYS_get_mempolicy},
        {"madvise", SYS_madvise},
        {"sched_setaffinity", SYS_sched_setaffinity},
    };
    if (argc < 3) return 2;

    std::vector<sock_filter> filter = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    std::istringstream refusals(argv[1]);
    for (std::string refusal; std::getline(refusals, refusal, ',');) {
        const std::size_t equals = refusal.find('=');
        const auto number = numbers.find(refusal.substr(0, equals));
        if (equals == std::string::npos || number == numbers.end()) {
            std::fprintf(stderr, "refuse: '%s' is not CALL=ERRNO\n", refusal.c_str());
            return 2;
        }
        const auto error = static_cast<unsigned>(std::atoi(refusal.c_str() + equals + 1));
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number->second, 0, 1));
        filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
    }
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));

    const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        std::perror("refuse");
        return 2;
    }
    execvp(argv[2], argv + 2);
    std::perror(argv[2]);
    return 127;
}
