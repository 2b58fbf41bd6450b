// Kinds of LPs: a model of several classes, and which numbers their LPs have.
//
//     nw::Setup setup() override {
//         nw::Setup setup;
//         setup.lps = nw::kinds({{"router", 64, nw::process<Router>(&parameters_)},
//                                {"host", 1024, nw::process<Host>(&parameters_)}});
//         …
//     }
//
// The LPs of the first kind have the first numbers, and so on. Handlers and constructors find others by
// ranges: context.kinds().range("host") is looked up once and kept, range[17] is an addition. Errors,
// report and statistics say `host 17`.
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

// LPs whose numbers follow each other.
class LpRange {
  public:
    // Empty.
    LpRange() = default;
    // From number `first` on.
    LpRange(std::uint32_t first, std::uint32_t count) noexcept : first_(first), count_(count) {}

    // How many they are.
    std::uint32_t size() const noexcept { return count_; }
    // Whether the LP is one of them.
    bool contains(LpId lp) const noexcept { return index(lp) - first_ < count_; }
    // The one with place i. Throws ModelError unless i < size().
    LpId operator[](std::uint32_t i) const {
        if (i >= count_) [[unlikely]]
            refuse(i);
        return LpId{first_ + i};
    }
    // The LP's place among them. Requires: contains(lp).
    std::uint32_t index_of(LpId lp) const noexcept { return index(lp) - first_; }

  private:
    [[noreturn, gnu::cold]] void refuse(std::uint32_t i) const;

    std::uint32_t first_ = 0;
    std::uint32_t count_ = 0;
};

// One kind of LPs, for nw::kinds().
struct Kind {
    std::string name;          // in errors, report and statistics
    std::uint32_t count = 0;   // of its LPs
    ProcessFactory process{};  // nw::process<Lp>(…) of their class
    // By which its LPs come back without --rollback. None: Setup's.
    std::optional<Rollback> preferred_rollback{};
    LpRange lps{};  // Kinds fills it in
};

struct Setup;

// All kinds of a model, or just a number of LPs: what Setup::lps is.
class Kinds {
  public:
    // At most so many kinds.
    static constexpr std::size_t kinds_max = 256;

    // One kind, `LP`, of Setup::process.
    Kinds(std::uint32_t count = 0);
    // setup.lps with what the rest of `setup` says of them.
    static Kinds of(const Setup& setup);
    // Throws SetupError on names that are empty or not different, and on too many LPs or kinds.
    explicit Kinds(std::vector<Kind> all);

    // Of LPs.
    std::uint32_t count() const noexcept { return count_; }
    // As count(), so that Setup::lps is a number as well.
    operator std::uint32_t() const noexcept { return count_; }
    // False for a mere number of LPs.
    bool are_named() const noexcept { return are_named_; }

    // In the order in which they were given, with their ranges.
    const std::vector<Kind>& all() const noexcept { return all_; }
    // The LPs of a kind. Throws ModelError where there is none of this name, as the next ones do where there
    // is no such kind or LP.
    const LpRange& range(std::string_view kind) const;
    // The LP with this place among those of its kind.
    LpId id(std::string_view kind, std::uint32_t index) const { return range(kind)[index]; }
    // Which kind an LP is of.
    const Kind& kind_of(LpId lp) const;
    // As in errors and reports: "host 17", or "LP 17" without kinds.
    std::string name(LpId lp) const;

  private:
    std::vector<Kind> all_;
    std::uint32_t count_ = 0;
    bool are_named_ = false;
};

// For Setup::lps: several classes of LPs. Throws SetupError as Kinds does.
inline Kinds kinds(std::vector<Kind> all) { return Kinds(std::move(all)); }

}  // namespace nw
