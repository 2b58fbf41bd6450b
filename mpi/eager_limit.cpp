// SPDX-License-Identifier: Apache-2.0
#include "mpi/eager_limit.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nw {
namespace {

// Subtracted from a limit: Open MPI's limits include its header, which has 32 to 64 bytes,
// depending on the transport.
constexpr std::size_t header_bytes = 256;
constexpr std::size_t limit_unless_told = 4096;

std::optional<std::uint64_t> read_variable(int number, MPI_Datatype type) {
    MPI_T_cvar_handle handle;
    int count = 0;
    if (MPI_T_cvar_handle_alloc(number, nullptr, &handle, &count) != MPI_SUCCESS) return {};
    std::optional<std::uint64_t> value;
    std::array<unsigned char, 64> bytes{};
    int size = 0;
    MPI_Type_size(type, &size);
    if (count == 1 && size <= 8 && MPI_T_cvar_read(handle, bytes.data()) == MPI_SUCCESS) {
        value = 0;
        for (int i = size; i > 0; --i)  // numawarp runs on little-endian machines only
            *value = *value << 8 | bytes[static_cast<std::size_t>(i - 1)];
    }
    MPI_T_cvar_handle_free(&handle);
    return value;
}

}  // namespace

std::size_t eager_bytes() {
    constexpr std::string_view names[] = {"btl_vader_eager_limit", "btl_sm_eager_limit",
                                          "btl_tcp_eager_limit"};
    std::uint64_t limit = UINT64_MAX;
    int provided = 0, variables = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS) {
        MPI_T_cvar_get_num(&variables);
        for (int v = 0; v < variables; ++v) {
            std::array<char, 128> name{};
            int length = static_cast<int>(name.size()), verbosity = 0, bind = 0, scope = 0;
            int no_text = 0;
            MPI_Datatype type = MPI_DATATYPE_NULL;
            MPI_T_enum meaning = MPI_T_ENUM_NULL;
            if (MPI_T_cvar_get_info(v, name.data(), &length, &verbosity, &type, &meaning, nullptr,
                                    &no_text, &bind, &scope) != MPI_SUCCESS)
                continue;
            if (std::find(std::begin(names), std::end(names), std::string_view(name.data())) ==
                std::end(names))
                continue;
            if (const auto value = read_variable(v, type)) limit = std::min(limit, *value);
        }
        MPI_T_finalize();
    }
    if (limit == UINT64_MAX) limit = limit_unless_told;
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(
        limit - std::min<std::uint64_t>(limit, header_bytes), 1024, 65536));
}

}  // namespace nw
