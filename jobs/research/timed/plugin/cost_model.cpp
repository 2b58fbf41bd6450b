// SPDX-License-Identifier: Apache-2.0
#include "jobs/research/timed/plugin/cost_model.hpp"

#include <algorithm>

namespace nw::timed {

// --- Rules ---------------------------------------------------------------------------------------

bool CostRules::set(std::string_view name, const std::vector<std::uint64_t>& values) {
    const std::size_t nodes = memory.nodes();
    const auto set_matrix = [&](auto& matrix) {
        if (values.size() != nodes * nodes) return false;
        for (std::size_t i = 0; i < values.size(); ++i)
            matrix[i / nodes][i % nodes] =
                static_cast<std::remove_reference_t<decltype(matrix[0][0])>>(values[i]);
        return true;
    };
    if (name == "cpus") {
        node_of_cpu.assign(values.begin(), values.end());
        return !values.empty();
    }
    if (name == "memory") {
        memory = qemu::GuestMemory(values);
        return !values.empty() && values.size() <= nodes_max;
    }
    if (name == "hit") {
        if (values.size() > hit.size()) return false;
        std::transform(values.begin(), values.end(), hit.begin(),
                       [](std::uint64_t ps) { return static_cast<Picoseconds>(ps); });
        return !values.empty();
    }
    if (name == "latency") return set_matrix(latency);
    if (name == "link") return set_matrix(link);
    if (name == "bandwidth") {
        if (values.size() != nodes) return false;
        std::copy(values.begin(), values.end(), bandwidth);
        return true;
    }
    if (name == "walk") {
        walk = values.empty() ? 0 : static_cast<Picoseconds>(values[0]);
        return values.size() == 1;
    }
    if (name == "overlap") {
        overlap = values.empty() ? 0 : values[0];
        return overlap > 0;
    }
    return caches.set(name, values);
}

bool CostRules::is_complete() const {
    const std::size_t nodes = memory.nodes();
    return nodes != 0 && !node_of_cpu.empty() && caches.levels[0].sets != 0 && latency[0][0] != 0 &&
           std::all_of(node_of_cpu.begin(), node_of_cpu.end(),
                       [nodes](unsigned node) { return node < nodes; });
}

// --- Costs ---------------------------------------------------------------------------------------

CostModel::CostModel(CostRules rules)
    : rules_(std::move(rules)),
      caches_(rules_.caches, rules_.node_of_cpu),
      stamps_(rules_.memory.bytes()),
      memories_(rules_.memory.nodes()) {
    for (unsigned number = 0; number < rules_.node_of_cpu.size(); ++number) {
        Cpu& cpu = *cpus_.emplace_back(std::make_unique<Cpu>(rules_.caches.tlb));
        cpu.number = number;
        cpu.node = rules_.node_of_cpu[number];
        cpu.caches = caches_.of_cpu(number);
    }
    const std::size_t nodes = rules_.memory.nodes();
    for (std::size_t m = 0; m < nodes; ++m) memories_[m].limit(rules_.bandwidth[m]);
    for (std::size_t c = 0; c < nodes; ++c) {
        links_.emplace_back(nodes);
        for (std::size_t m = 0; m < nodes; ++m) links_[c][m].limit(rules_.link[c][m]);
    }
}

Picoseconds CostModel::cost_of(unsigned number, const Access& access, Picoseconds now) {
    Cpu& cpu = *cpus_[number];
    ++cpu.counts.accesses;
    if (access.is_store) ++cpu.counts.stores;
    Picoseconds cost = 0;
    if (cpu.tlb.look_up(access.address, qemu::is_huge_page(access.address, access.offset)).walk) {
        ++cpu.counts.walks;
        cost += rules_.walk;
    }
    // An access to two lines uses the caches for both lines if they are in one page.
    constexpr std::uint64_t line_bytes = std::uint64_t{1} << qemu::Stamps::line_shift;
    for (std::uint64_t step = 0; step < access.bytes;) {
        const std::uint64_t at = access.offset + step;
        if (at >> 12 != access.offset >> 12) break;
        cost += cost_of_line(cpu, access.address + step, at, access.is_store, now + cost);
        step += line_bytes - at % line_bytes;
    }
    return cost;
}

Picoseconds CostModel::cost_of_line(Cpu& cpu, std::uint64_t address, std::uint64_t offset,
                                    bool is_store, Picoseconds now) {
    const qemu::Stamp stamp = stamps_.touch(offset, cpu.number, is_store);
    std::size_t level = 0;
    for (; level < qemu::cache_levels; ++level) {
        qemu::Cache* const cache = cpu.caches.levels[level];
        // The index of the first level is virtual: the cache reads it before the TLB supplies the
        // page.
        if (cache != nullptr && cache->look_up(level == 0 ? address : offset, offset, stamp)) break;
    }
    const bool may_be_shared = is_store && level < qemu::cache_levels &&
                               stamp.changes != stamp.before && stamp.writer != qemu::Stamp::nobody;
    if (level == 0 && !may_be_shared) return 0;
    if (level > 0) ++cpu.counts.first_misses;
    // Called for each miss of the first level, also for a store: it stores the line.
    const bool is_stream = level > 0 && cpu.streams.continues(offset >> qemu::Stamps::line_shift);
    Miss miss =
        level < qemu::cache_levels ? Miss{rules_.hit[level], 0} : fetch(cpu, offset, stamp, now);
    if (may_be_shared) {
        ++cpu.counts.upgrades;
        miss.latency =
            std::max(miss.latency, rules_.latency[cpu.node][rules_.memory.node_of(offset)]);
    }
    const auto overlapping = static_cast<Picoseconds>(is_store || is_stream ? rules_.overlap : 1);
    return miss.wait + miss.latency / overlapping;
}

CostModel::Miss CostModel::fetch(Cpu& cpu, std::uint64_t offset, qemu::Stamp stamp,
                                 Picoseconds now) {
    constexpr std::uint64_t line_bytes = std::uint64_t{1} << qemu::Stamps::line_shift;
    const bool is_passed =
        stamp.writer != qemu::Stamp::nobody && is_in_other_cache(cpu, stamp.writer, offset);
    const unsigned source =
        is_passed ? rules_.node_of_cpu[stamp.writer] : rules_.memory.node_of(offset);
    ++(is_passed ? cpu.counts.passed : cpu.counts.memory)[source];
    Picoseconds wait = links_[cpu.node][source].enter(now, line_bytes);
    if (!is_passed) wait = std::max(wait, memories_[source].enter(now, line_bytes));
    cpu.counts.waited += wait;
    return {rules_.latency[cpu.node][source], wait};
}

bool CostModel::is_in_other_cache(const Cpu& cpu, unsigned writer, std::uint64_t offset) {
    qemu::Cache* const last = caches_.of_cpu(writer).last;
    // The failed look-up has already stored the line in the CPU's own last level.
    return last != nullptr && last != cpu.caches.last && last->holds(offset);
}

bool CostModel::Streams::continues(std::uint64_t line) {
    const auto found = std::find_if(last_.begin(), last_.end(), [line](std::uint64_t last) {
        return last + 1 == line || last == line + 1;
    });
    if (found == last_.end()) {
        last_[next_++ % last_.size()] = line;
        return false;
    }
    *found = line;
    return true;
}

}  // namespace nw::timed
