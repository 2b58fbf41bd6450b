// SPDX-License-Identifier: Apache-2.0
// The network between the hosts of hosts.py: an Ethernet switch as a program, whose links can be
// slow, lose frames or be cut. It uses TAP devices, because many machines lack the kernel module
// for slow and lossy links (tc netem).
//
//     switch PID...    creates eth0 in the network namespace of each process, then prints "ready"
//
// Host number i, counted from 1, must give its eth0 the address 02:00:00:00:00:<i>, so that the
// switch need not learn addresses. The switch then reads orders from standard input, one per line,
// and answers each order with "ok":
//
//     links DELAY_US LOSS    for every frame: delay in microseconds, probability of loss
//     cut HOST               all frames from and to this host are lost
//     heal HOST              ends a cut
//
// The switch ends at the end of its input. Frames of one link never overtake each other.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t frame_bytes_max = 9216;
// The maximum number of frames that are read from one host before the next host is served.
constexpr int frames_a_turn = 64;

[[noreturn]] void die(const std::string& what) {
    std::cerr << "switch: " << what << ": " << std::strerror(errno) << "\n";
    std::exit(EXIT_FAILURE);
}

void enter_network(const std::string& path) {
    const int name_space = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (name_space < 0 || setns(name_space, CLONE_NEWNET) != 0) die(path);
    close(name_space);
}

// Creates eth0 in the present network namespace. Reading returns the frames that the host sends;
// written frames are received by the host.
int make_device() {
    const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0) die("/dev/net/tun");
    ifreq request{};
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    std::strcpy(request.ifr_name, "eth0");
    if (ioctl(device, TUNSETIFF, &request) != 0) die("TUNSETIFF");
    return device;
}

class Switch {
  public:
    explicit Switch(const std::vector<std::string>& pids) {
        const int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        for (const std::string& pid : pids) {
            enter_network("/proc/" + pid + "/ns/net");
            hosts_.push_back({make_device(), false});
        }
        // Returns to the switch's own network namespace: in the namespace of the last host, the
        // switch would end with that host.
        if (own < 0 || setns(own, CLONE_NEWNET) != 0) die("back");
        close(own);
    }

    void run() {
        std::cout << "ready" << std::endl;
        while (wait()) {
            for (std::size_t from = 0; from < hosts_.size(); ++from) take_frames(from);
            deliver();
        }
    }

  private:
    struct Host {
        int device;
        bool cut;
    };
    struct Frame {
        std::size_t to;
        std::vector<char> bytes;
    };

    // Blocks until there is a frame to read or to deliver. Returns false at the end of the orders.
    bool wait() {
        std::vector<pollfd> polled{{STDIN_FILENO, POLLIN, 0}};
        for (const Host& host : hosts_) polled.push_back({host.device, POLLIN, 0});
        timespec timeout{};
        if (!under_way_.empty()) {
            const auto left =
                std::max(Clock::duration::zero(), under_way_.begin()->first - Clock::now());
            timeout.tv_nsec =
                std::chrono::duration_cast<std::chrono::nanoseconds>(left).count() % 1'000'000'000;
            timeout.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(left).count();
        }
        if (ppoll(polled.data(), polled.size(), under_way_.empty() ? nullptr : &timeout, nullptr) <
                0 &&
            errno != EINTR)
            die("ppoll");
        return polled.front().revents == 0 || obey();
    }

    bool obey() {
        std::string line;
        if (!std::getline(std::cin, line)) return false;
        std::istringstream words(line);
        std::string order;
        std::size_t host = 0;
        words >> order;
        if (order == "links") {
            long delay_us = 0;
            words >> delay_us >> loss_;
            delay_ = std::chrono::microseconds(delay_us);
        } else if (words >> host; host >= 1 && host <= hosts_.size()) {
            hosts_[host - 1].cut = order == "cut";
        }
        std::cout << (words ? "ok" : "what?") << std::endl;
        return true;
    }

    void take_frames(std::size_t from) {
        for (int i = 0; i < frames_a_turn; ++i) {
            std::array<char, frame_bytes_max> frame;
            const ssize_t size = read(hosts_[from].device, frame.data(), frame.size());
            if (size < 14) return;  // no more frames; every frame has a header of 14 bytes
            const bool to_all = (frame[0] & 1) != 0;
            const auto number = static_cast<unsigned char>(frame[5]);
            for (std::size_t to = 0; to < hosts_.size(); ++to) {
                if (to == from || !(to_all || number == to + 1)) continue;
                if (hosts_[from].cut || hosts_[to].cut || is_lost()) continue;
                under_way_.emplace(Clock::now() + delay_,
                                   Frame{to, {frame.data(), frame.data() + size}});
            }
        }
    }

    bool is_lost() { return std::bernoulli_distribution(loss_)(random_); }

    void deliver() {
        const Clock::time_point now = Clock::now();
        while (!under_way_.empty() && under_way_.begin()->first <= now) {
            const Frame& frame = under_way_.begin()->second;
            // A host that cannot receive the frame loses it, like a host with a full receive queue.
            [[maybe_unused]] const ssize_t written =
                write(hosts_[frame.to].device, frame.bytes.data(), frame.bytes.size());
            under_way_.erase(under_way_.begin());
        }
    }

    std::vector<Host> hosts_;
    std::multimap<Clock::time_point, Frame> under_way_;  // by time of arrival
    Clock::duration delay_{0};
    double loss_ = 0;
    std::mt19937 random_{1};
};

}  // namespace

int main(int argc, char** argv) { Switch(std::vector<std::string>(argv + 1, argv + argc)).run(); }
