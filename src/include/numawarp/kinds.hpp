// SPDX-License-Identifier: Apache-2.0
// Kinds of LPs: models with several LP classes, and the numbers of their LPs.
//
//     nw::Setup setup() override {
//         nw::Setup setup;
//         setup.lps = nw::kinds({{"router", 64, nw::process<Router>(&parameters_)},
//                                {"host", 1024, nw::process<Host>(&parameters_)}});
//         …
//     }
//
// The LPs of the first kind have the first numbers, the LPs of the second kind the next numbers,
// and so on. Handlers and constructors address other LPs by ranges: call
// context.kinds().range("host") once and keep the result; range[17] is then an addition. Errors,
// the report and the statistics call such an LP `host 17`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <numawarp/ids.hpp>
#include <numawarp/process_factory.hpp>
#include <numawarp/rollback.hpp>

namespace nw {

// LPs with consecutive numbers.
class LpRange {
  public:
    // An empty range.
    LpRange() = default;
    // `count` LPs from number `first` on.
    LpRange(std::uint32_t first, std::uint32_t count) noexcept : first_(first), count_(count) {}

    // The number of LPs in the range.
    std::uint32_t size() const noexcept { return count_; }
    // True if the LP is in the range.
    bool contains(LpId lp) const noexcept { return index(lp) - first_ < count_; }
    // The LP with index i in the range. Throws ModelError unless i < size().
    LpId operator[](std::uint32_t i) const {
        if (i >= count_) [[unlikely]]
            refuse(i);
        return LpId{first_ + i};
    }
    // The index of the LP in the range. Requires: contains(lp).
    std::uint32_t index_of(LpId lp) const noexcept { return index(lp) - first_; }

  private:
    [[noreturn, gnu::cold]] void refuse(std::uint32_t i) const;

    std::uint32_t first_ = 0;
    std::uint32_t count_ = 0;
};

// One kind of LPs, for nw::kinds().
struct Kind {
    std::string name;          // used in errors, report and statistics
    std::uint32_t count = 0;   // number of LPs of this kind
    ProcessFactory process{};  // nw::process<Lp>(…) of the LP class
    // The rollback method of these LPs if --rollback is not given. Empty:
    // Setup::preferred_rollback.
    std::optional<Rollback> preferred_rollback{};
    LpRange lps{};  // set by Kinds
};

struct Setup;

// The type of Setup::lps: all kinds of LPs of a model, or only a number of LPs.
class Kinds {
  public:
    // The largest number of kinds.
    static constexpr std::size_t kinds_max = 256;

    // `count` LPs of one kind, called `LP`. Setup::process builds them.
    Kinds(std::uint32_t count = 0);
    // Returns setup.lps. If setup.lps is only a number of LPs, their kind gets the process and the
    // preferred rollback method of `setup`.
    static Kinds of(const Setup& setup);
    // Several named kinds. Throws SetupError if there are no kinds or more than kinds_max, if a
    // name is empty or occurs twice, or if there are more than 2^32-1 LPs.
    explicit Kinds(std::vector<Kind> all);

    // The number of LPs of all kinds.
    std::uint32_t count() const noexcept { return count_; }
    // Converts to count(), so that Setup::lps can be used as a number.
    operator std::uint32_t() const noexcept { return count_; }
    // False if only a number of LPs was given.
    bool are_named() const noexcept { return are_named_; }

    // The kinds with their ranges, in the order in which they were given.
    const std::vector<Kind>& all() const noexcept { return all_; }
    // The LPs of a kind. Throws ModelError if no kind has this name.
    const LpRange& range(std::string_view kind) const;
    // The LP with this index among the LPs of its kind. Throws ModelError if there is no such kind
    // or LP.
    LpId id(std::string_view kind, std::uint32_t index) const { return range(kind)[index]; }
    // The kind of an LP. Throws ModelError if there is no such LP.
    const Kind& kind_of(LpId lp) const;
    // The name of an LP in errors and reports: "host 17", or "LP 17" without named kinds.
    std::string name(LpId lp) const;

  private:
    std::vector<Kind> all_;
    std::uint32_t count_ = 0;
    bool are_named_ = false;
};

// Makes the value of Setup::lps for a model with several LP classes. Throws SetupError as the
// constructor of Kinds does.
inline Kinds kinds(std::vector<Kind> all) { return Kinds(std::move(all)); }

}  // namespace nw
