// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_os.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <mutex>

#include "memory/handler/heap_scope.hpp"
#include "util/check.hpp"

namespace nw {

FakeOs::FakeOs(int nodes, int cores_per_node, int threads_per_core,
               std::uint64_t free_bytes_per_node)
    : nodes_(nodes), cores_per_node_(cores_per_node), threads_per_core_(threads_per_core) {
    for (int node = 0; node < nodes; ++node) free_bytes_[NodeId{node}] = free_bytes_per_node;
    total_bytes_ = free_bytes_;
    for (int cpu = 0; cpu < nodes * cores_per_node * threads_per_core; ++cpu)
        allowed_.push_back(cpu);
}

NodeId FakeOs::add_memory_only_node(std::uint64_t free_bytes) {
    const NodeId node{nodes_++};
    free_bytes_[node] = total_bytes_[node] = free_bytes;
    return node;
}

void FakeOs::fail_next(Call call, Status status, std::size_t count) {
    const std::lock_guard lock(mutex_);
    faults_[call] = {status, count};
}

void FakeOs::touch(const void* page, NodeId node) {
    const std::lock_guard lock(mutex_);
    NW_CHECK(access_now(page) == Access::write);
    if (page_nodes_.contains(page) || free_bytes_[node] < page_bytes) return;
    free_bytes_[node] -= page_bytes;
    page_nodes_[page] = node;
}

void FakeOs::set_free_bytes(NodeId node, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    free_bytes_[node] = bytes;
}

void FakeOs::set_memory(const MemoryFigures& figures) {
    const std::lock_guard lock(mutex_);
    memory_ = figures;
}

void FakeOs::set_reading(HardwareCounter counter, const CounterReading& reading) {
    const std::lock_guard lock(mutex_);
    readings_[static_cast<int>(counter)] = reading;
}

Status FakeOs::open_counter(HardwareCounter counter, int& handle) noexcept {
    const std::lock_guard lock(mutex_);
    handle = static_cast<int>(counter);
    return recorded({Call::open_counter, nullptr, 0, handle, planned_fault(Call::open_counter)});
}

Status FakeOs::read_counter(int handle, CounterReading& reading) noexcept {
    const std::lock_guard lock(mutex_);
    const Status status = planned_fault(Call::read_counter);
    if (status == 0) reading = readings_[handle];
    return recorded({Call::read_counter, nullptr, 0, handle, status});
}

void FakeOs::close_counter(int handle) noexcept {
    const std::lock_guard lock(mutex_);
    recorded({Call::close_counter, nullptr, 0, handle, 0});
}

void FakeOs::set_busy(const void* page, std::size_t count) {
    const std::lock_guard lock(mutex_);
    busy_[page] = count;
}

void FakeOs::set_immovable(const void* page, int status) {
    const std::lock_guard lock(mutex_);
    immovable_[page] = status;
}

std::vector<AddressRange> FakeOs::mappings() {
    return hides_memory_ ? std::vector<AddressRange>{} : linux_os().mappings();
}

std::size_t FakeOs::read_own_memory(std::uintptr_t address, void* bytes,
                                    std::size_t size) noexcept {
    return hides_memory_ ? 0 : linux_os().read_own_memory(address, bytes, size);
}

MemoryFigures FakeOs::memory() noexcept {
    const std::lock_guard lock(mutex_);
    return memory_;
}

std::size_t FakeOs::count(Call call) const noexcept {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(records_.begin(), records_.end(),
                      [call](const Record& record) { return record.call == call; }));
}

void FakeOs::forget_pages(const void* address, std::size_t bytes) {
    const auto end = page_nodes_.lower_bound(static_cast<const std::byte*>(address) + bytes);
    for (auto page = page_nodes_.lower_bound(address); page != end; page = page_nodes_.erase(page))
        free_bytes_[page->second] += page_bytes;
}

Access FakeOs::access_of(const void* page) const noexcept {
    const std::lock_guard lock(mutex_);
    return access_now(page);
}

Access FakeOs::access_now(const void* page) const noexcept {
    const auto* const address = static_cast<const std::byte*>(page);
    const auto range = std::find_if(reserved_.begin(), reserved_.end(), [&](const auto& reserved) {
        const auto* const base = static_cast<const std::byte*>(reserved.first);
        return address >= base && address < base + reserved.second;
    });
    if (range == reserved_.end()) return Access::write;
    const auto after = access_.upper_bound(address);
    return after == access_.begin() ? Access::none : std::prev(after)->second;
}

std::size_t FakeOs::mapping_count() const noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t count = reserved_.size();
    for (const auto& [base, bytes] : reserved_) {
        const auto* const begin = static_cast<const std::byte*>(base);
        const auto inside = access_.upper_bound(begin);
        count +=
            static_cast<std::size_t>(std::distance(inside, access_.lower_bound(begin + bytes)));
    }
    return count;
}

void FakeOs::note_access(std::byte* begin, std::byte* end, Access access) {
    const auto before = [this](auto entry) {
        return entry == access_.begin() ? Access::none : std::prev(entry)->second;
    };
    const auto behind = access_.upper_bound(end);
    const Access access_behind = before(behind);
    access_.erase(access_.lower_bound(begin), behind);
    if (before(access_.lower_bound(begin)) != access) access_[begin] = access;
    if (access_behind != access) access_[end] = access_behind;
}

Status FakeOs::planned_fault(Call call) {
    const auto fault = faults_.find(call);
    if (fault == faults_.end() || fault->second.count == 0) return 0;
    --fault->second.count;
    return fault->second.status;
}

Status FakeOs::recorded(Record record) {
    records_.push_back(record);
    return record.status;
}

Status FakeOs::reserve(void* address, std::size_t bytes, void*& result) noexcept {
    // An allocation in a handler may call this function. The records must not be in the LP's heap.
    const PlatformScope platform;
    const std::lock_guard lock(mutex_);
    Status status = planned_fault(Call::reserve);
    if (status == 0 && bytes > reserve_bytes_max_) status = ENOMEM;
    if (status == 0) status = linux_os().reserve(address, bytes, result);
    if (status == 0) reserved_[result] = bytes;
    return recorded({Call::reserve, address, bytes, 0, status});
}

Status FakeOs::unreserve(void* address, std::size_t bytes) noexcept {
    const PlatformScope platform;
    const std::lock_guard lock(mutex_);
    Status status = planned_fault(Call::unreserve);
    if (status == 0) status = linux_os().unreserve(address, bytes);
    if (status == 0) {
        note_access(static_cast<std::byte*>(address), static_cast<std::byte*>(address) + bytes,
                    Access::none);
        reserved_.erase(address);
        forget_pages(address, bytes);
    }
    return recorded({Call::unreserve, address, bytes, 0, status});
}

Status FakeOs::set_access(void* address, std::size_t bytes, Access access) noexcept {
    const PlatformScope platform;
    const std::lock_guard lock(mutex_);
    Status status = planned_fault(Call::set_access);
    if (status == 0) status = linux_os().set_access(address, bytes, access);
    if (status == 0)
        note_access(static_cast<std::byte*>(address), static_cast<std::byte*>(address) + bytes,
                    access);
    return recorded({Call::set_access, address, bytes, static_cast<int>(access), status});
}

Status FakeOs::discard(void* address, std::size_t bytes) noexcept {
    const PlatformScope platform;
    const std::lock_guard lock(mutex_);
    Status status = planned_fault(Call::discard);
    if (status == 0) status = linux_os().discard(address, bytes);
    if (status == 0) forget_pages(address, bytes);
    return recorded({Call::discard, address, bytes, 0, status});
}

Status FakeOs::advise_huge(void* address, std::size_t bytes, bool on) noexcept {
    const std::lock_guard lock(mutex_);
    return recorded(
        {Call::advise_huge, address, bytes, on ? 1 : 0, planned_fault(Call::advise_huge)});
}

void FakeOs::set_allowed_cpus(std::vector<int> cpus) {
    const std::lock_guard lock(mutex_);
    allowed_ = std::move(cpus);
}

std::vector<int> FakeOs::thread_cpus() {
    const std::lock_guard lock(mutex_);
    return allowed_;
}

std::vector<Cpu> FakeOs::allowed_cpus() {
    const std::lock_guard lock(mutex_);
    std::vector<Cpu> cpus;
    for (const int cpu : allowed_) cpus.push_back({cpu, cpu / threads_per_core_, node_of_cpu(cpu)});
    return cpus;
}

NodeId FakeOs::node_of_cpu(int cpu) noexcept {
    return NodeId{cpu / (cores_per_node_ * threads_per_core_)};
}

std::vector<NodeId> FakeOs::nodes() {
    std::vector<NodeId> all;
    for (int node = 0; node < nodes_; ++node)
        if (!memoryless_.contains(NodeId{node})) all.push_back(NodeId{node});
    return all;
}

std::uint64_t FakeOs::free_bytes(NodeId node) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = free_bytes_.find(node);
    return found == free_bytes_.end() ? 0 : found->second;
}

std::uint64_t FakeOs::total_bytes(NodeId node) noexcept {
    const auto found = total_bytes_.find(node);
    return found == total_bytes_.end() || memoryless_.contains(node) ? 0 : found->second;
}

double FakeOs::firmware_bandwidth(NodeId cpu, NodeId memory) noexcept {
    const auto found = firmware_bandwidths_.find({cpu, memory});
    return found != firmware_bandwidths_.end() ? found->second : 0;
}

int FakeOs::distance(NodeId from, NodeId to) noexcept {
    const auto found = distances_.find({from, to});
    if (found != distances_.end()) return found->second;
    return from == to ? 10 : 20;
}

Status FakeOs::bind_thread(int cpu) noexcept {
    const std::lock_guard lock(mutex_);
    Status status = planned_fault(Call::bind_thread);
    if (status == 0 && std::find(allowed_.begin(), allowed_.end(), cpu) == allowed_.end())
        status = EINVAL;
    return recorded({Call::bind_thread, nullptr, 0, cpu, status});
}

Status FakeOs::prefer_local_memory() noexcept {
    const std::lock_guard lock(mutex_);
    return recorded(
        {Call::prefer_local_memory, nullptr, 0, 0, planned_fault(Call::prefer_local_memory)});
}

Status FakeOs::require_memory_of(NodeId node) noexcept {
    const std::lock_guard lock(mutex_);
    return recorded(
        {Call::require_memory_of, nullptr, 0, index(node), planned_fault(Call::require_memory_of)});
}

int FakeOs::move_page(const void* page, NodeId target) {
    const auto found = page_nodes_.find(page);
    if (found == page_nodes_.end()) return -ENOENT;
    if (found->second == target) return index(target);
    if (const auto fixed = immovable_.find(page); fixed != immovable_.end()) return fixed->second;
    if (const auto busy = busy_.find(page); busy != busy_.end() && busy->second != 0) {
        --busy->second;
        return -EBUSY;
    }
    if (free_bytes_[target] < page_bytes) return -ENOMEM;
    free_bytes_[target] -= page_bytes;
    free_bytes_[found->second] += page_bytes;
    found->second = target;
    return index(target);
}

Status FakeOs::interleave_new_pages(void* address, std::size_t bytes, std::span<const NodeId>,
                                    bool weighted) noexcept {
    const std::lock_guard lock(mutex_);
    return recorded({Call::interleave_new_pages, address, bytes, weighted ? 1 : 0,
                     planned_fault(Call::interleave_new_pages)});
}

std::vector<std::uint32_t> FakeOs::interleave_weights(std::span<const NodeId> nodes) {
    std::vector<std::uint32_t> weights;
    for (const NodeId node : nodes) {
        const auto number = static_cast<std::size_t>(index(node));
        if (number >= interleave_weights_.size()) return {};
        weights.push_back(interleave_weights_[number]);
    }
    return weights;
}

Status FakeOs::move_pages(std::span<void* const> pages, NodeId target,
                          std::span<int> statuses) noexcept {
    const std::lock_guard lock(mutex_);
    Status status = planned_fault(Call::move_pages);
    if (status == 0 && pages.size() != statuses.size()) status = EINVAL;
    // As in the kernel, the whole call fails if the node does not exist.
    if (status == 0 && (index(target) < 0 || index(target) >= nodes_)) status = ENODEV;
    for (std::size_t i = 0; status == 0 && i < pages.size(); ++i)
        statuses[i] = move_page(pages[i], target);
    return recorded({Call::move_pages, pages.empty() ? nullptr : pages[0],
                     pages.size() * page_bytes, index(target), status});
}

Status FakeOs::query_pages(std::span<void* const> pages, std::span<int> statuses) noexcept {
    const std::lock_guard lock(mutex_);
    Status status = planned_fault(Call::query_pages);
    if (status == 0 && pages.size() != statuses.size()) status = EINVAL;
    for (std::size_t i = 0; status == 0 && i < pages.size(); ++i) {
        const auto found = page_nodes_.find(pages[i]);
        statuses[i] = found == page_nodes_.end() ? -ENOENT : index(found->second);
    }
    return recorded({Call::query_pages, pages.empty() ? nullptr : pages[0],
                     pages.size() * page_bytes, 0, status});
}

}  // namespace nw
