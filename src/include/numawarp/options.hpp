// The options that a model declares, and which numbers are legal for them. Who writes another value on the
// command line or in a file is told so before setup() is called.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace nw {

// The finite numbers between two bounds: from(1), above(0), from(0).to(1), above(0).below(1), …
// A default one holds all of them. Bounds of whole numbers are exact up to 2^53.
struct Range {
    double least = -std::numeric_limits<double>::infinity();  // the lower bound
    double most = std::numeric_limits<double>::infinity();    // the upper bound
    bool has_least = true;                                    // the lower bound itself is legal
    bool has_most = true;                                     // the upper bound itself is legal

    // With an upper bound that is legal itself.
    constexpr Range to(double bound) const noexcept { return {least, bound, has_least, true}; }
    // With an upper bound that is not legal itself.
    constexpr Range below(double bound) const noexcept { return {least, bound, has_least, false}; }

    // Whether the value is legal. Infinite values and those that are no number never are.
    constexpr bool contains(double value) const noexcept {
        return value - value == 0 && (has_least ? value >= least : value > least) &&
               (has_most ? value <= most : value < most);
    }
    // "from 0 to 1"; empty without bounds.
    std::string text() const;
};
// The numbers from this one up: nw::from(1), nw::from(0).to(1).
constexpr Range from(double bound) noexcept { return {.least = bound}; }
// The numbers above this one, which is not legal itself: nw::above(0), nw::above(0).below(1).
constexpr Range above(double bound) noexcept { return {.least = bound, .has_least = false}; }

// Where a model declares its own command-line options (also keys in --config FILE.toml).
// `value` holds the default, which must be legal, and receives what the user wrote.
class Options {
  public:
    virtual ~Options() = default;
    // A real number: `--name 2.5`.
    virtual void add(const std::string& name, double& value, const std::string& help,
                     Range legal = {}) = 0;
    // A whole number from 0 to 2^32-1, or within narrower bounds.
    virtual void add(const std::string& name, std::uint32_t& value, const std::string& help,
                     Range legal = {}) = 0;
    // A whole number from 0 to 2^64-1, or within narrower bounds.
    virtual void add(const std::string& name, std::uint64_t& value, const std::string& help,
                     Range legal = {}) = 0;
    // Any text, such as the name of a file.
    virtual void add(const std::string& name, std::string& value, const std::string& help) = 0;
    // A switch: `--name` sets it to true, `--name off` to false.
    virtual void add_flag(const std::string& name, bool& value, const std::string& help) = 0;
    // One of several words.
    virtual void add_choice(const std::string& name, std::string& value,
                            const std::vector<std::string>& words, const std::string& help) = 0;
    // One of several numbers.
    virtual void add_choice(const std::string& name, std::uint32_t& value,
                            const std::vector<std::uint32_t>& numbers, const std::string& help) = 0;
};

// For setup(): a rule that no range can say, as one between two options. Throws SetupError unless it is
// kept: "--mean 0: must be above 0 where --lookahead is 0".
void require(bool kept, const std::string& option, double value, const std::string& rule);

}  // namespace nw
