// SPDX-License-Identifier: Apache-2.0
// The instructions of a guest, as a plug-in receives them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "jobs/research/qemu/qemu_api.hpp"
#include "util/meter_marks.hpp"

namespace nw::qemu {

// The first eight bytes of an instruction. If the instruction is shorter, zeros follow it.
using Code = std::array<unsigned char, 8>;
inline Code code_of(const qemu_plugin_insn* instruction) {
    Code code{};
    const std::size_t bytes = std::min(qemu_plugin_insn_size(instruction), code.size());
    if (api_version() >= 3) {
        qemu_plugin_insn_data(instruction, code.data(), bytes);
    } else {
        const auto data = reinterpret_cast<const void* (*)(const qemu_plugin_insn*)>(
            reinterpret_cast<void*>(qemu_plugin_insn_data));
        std::memcpy(code.data(), data(instruction), bytes);
    }
    return code;
}

// Returns the displacement of a mark, or 0 if the instruction is not a mark. A mark is the
// instruction nopl DISPLACEMENT(%rdi,%rsi) (util/meter_marks.hpp).
inline std::uint32_t mark_of(const Code& code) {
    constexpr unsigned char nop[] = {0x0f, 0x1f, 0x84, 0x37};
    std::uint32_t displacement = 0;
    std::memcpy(&displacement, &code[sizeof nop], sizeof displacement);
    const bool is_mark = std::memcmp(code.data(), nop, sizeof nop) == 0 &&
                         (displacement & 0xffff'0000) == meter_signature;
    return is_mark ? displacement : 0;
}

}  // namespace nw::qemu
