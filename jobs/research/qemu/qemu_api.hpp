// SPDX-License-Identifier: Apache-2.0
// The part of QEMU's plug-in interface that the plug-ins of this project use
// (docs/devel/tcg-plugins in QEMU's documentation). QEMU's header is in no package of Debian 12,
// and the header changed between versions. Therefore the declarations are here, for all these
// versions:
//
//   version 1  QEMU 6 to 8    no registers; an instruction's bytes by pointer
//   version 2  QEMU 9.0       registers, which are read into an array of GLib
//   version 3  QEMU 9.1 on    an instruction's bytes are copied
//   version 6  QEMU 11 on     the description of a register is longer
//
// QEMU reads the version that a plug-in requires when it loads the plug-in.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
struct qemu_plugin_register;
struct qemu_plugin_scoreboard;
using qemu_plugin_id_t = std::uint64_t;
using qemu_plugin_meminfo_t = std::uint32_t;

struct qemu_info_t {
    const char* target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    struct {
        int smp_vcpus, max_vcpus;
    } system;
};

struct qemu_plugin_reg_descriptor {
    qemu_plugin_register* handle;
    const char* name;
    const char* feature;
};
// These two structures are from GLib.
struct GByteArray {
    std::uint8_t* data;
    unsigned len;
};
struct GArray {
    char* data;
    unsigned len;
};

// A word in the entry of each vCPU of a scoreboard.
struct qemu_plugin_u64 {
    qemu_plugin_scoreboard* score;
    std::size_t offset;
};

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_RW = 3 };
inline constexpr int qemu_plugin_cond_ge = 7, qemu_plugin_inline_add_u64 = 0;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t,
                                           void (*)(qemu_plugin_id_t, qemu_plugin_tb*));
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, unsigned));
void qemu_plugin_register_vcpu_idle_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, unsigned));
void qemu_plugin_register_vcpu_resume_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, unsigned));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void*), void*);
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb*, void (*)(unsigned, void*),
                                          qemu_plugin_cb_flags, void*);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn*, void (*)(unsigned, void*),
                                            qemu_plugin_cb_flags, void*);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn*,
                                      void (*)(unsigned, qemu_plugin_meminfo_t, std::uint64_t,
                                               void*),
                                      qemu_plugin_cb_flags, qemu_plugin_mem_rw, void*);
std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, std::size_t);
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn*);
std::size_t qemu_plugin_insn_size(const qemu_plugin_insn*);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
qemu_plugin_hwaddr* qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t, std::uint64_t);
bool qemu_plugin_hwaddr_is_io(const qemu_plugin_hwaddr*);
std::uint64_t qemu_plugin_hwaddr_phys_addr(const qemu_plugin_hwaddr*);

// Functions that earlier versions lack; there their addresses are null.
[[gnu::weak]] GArray* qemu_plugin_get_registers();
// Appends the value to the array. Returns the number of bytes, from version 6 on whether it
// succeeded; callers use the length of the array instead.
[[gnu::weak]] void qemu_plugin_read_register(qemu_plugin_register*, GByteArray*);
[[gnu::weak]] unsigned g_array_get_element_size(GArray*);
[[gnu::weak]] GByteArray* g_byte_array_new();
[[gnu::weak]] GByteArray* g_byte_array_set_size(GByteArray*, unsigned);
// From version 3 on: `condition` compares the scoreboard's entry with `value`.
[[gnu::weak]] void qemu_plugin_register_vcpu_tb_exec_cond_cb(qemu_plugin_tb*,
                                                             void (*)(unsigned, void*),
                                                             qemu_plugin_cb_flags, int condition,
                                                             qemu_plugin_u64, std::uint64_t value,
                                                             void*);
[[gnu::weak]] void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(qemu_plugin_tb*, int operation,
                                                                     qemu_plugin_u64,
                                                                     std::uint64_t value);
[[gnu::weak]] qemu_plugin_scoreboard* qemu_plugin_scoreboard_new(std::size_t entry_bytes);
[[gnu::weak]] void* qemu_plugin_scoreboard_find(qemu_plugin_scoreboard*, unsigned vcpu);
// Before version 3 it takes only the first argument and returns a pointer.
std::size_t qemu_plugin_insn_data(const qemu_plugin_insn*, void*, std::size_t);
}

namespace nw::qemu {

// The newest version of the interface that both QEMU and this file support.
inline int api_version() {
    if (qemu_plugin_register_vcpu_tb_exec_cond_cb != nullptr) return 3;
    return qemu_plugin_get_registers != nullptr ? 2 : 1;
}

}  // namespace nw::qemu
