// SPDX-License-Identifier: Apache-2.0
// The options that a model declares, and the numbers that are allowed for these options. If the
// command line or a file contains another value, the program ends with an error before setup() is
// called.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace nw {

// The finite numbers between two bounds: from(1), above(0), from(0).to(1), above(0).below(1), … A
// default Range contains all finite numbers. Bounds of whole numbers are exact up to 2^53.
struct Range {
    double least = -std::numeric_limits<double>::infinity();  // the lower bound
    double most = std::numeric_limits<double>::infinity();    // the upper bound
    bool has_least = true;                                    // the lower bound itself is allowed
    bool has_most = true;                                     // the upper bound itself is allowed

    // Adds an upper bound that is itself allowed.
    constexpr Range to(double bound) const noexcept { return {least, bound, has_least, true}; }
    // Adds an upper bound that is not itself allowed.
    constexpr Range below(double bound) const noexcept { return {least, bound, has_least, false}; }

    // True if the value is allowed. Infinite values and NaN are never allowed.
    constexpr bool contains(double value) const noexcept {
        return value - value == 0 && (has_least ? value >= least : value > least) &&
               (has_most ? value <= most : value < most);
    }
    // The range in words, such as "from 0 to 1"; empty without bounds.
    std::string text() const;
};
// The numbers ≥ `bound`: nw::from(1), nw::from(0).to(1).
constexpr Range from(double bound) noexcept { return {.least = bound}; }
// The numbers > `bound`: nw::above(0), nw::above(0).below(1).
constexpr Range above(double bound) noexcept { return {.least = bound, .has_least = false}; }

// Declares a model's own command-line options, which are also keys in --config FILE.toml. In each
// function, `value` contains the default at the call; the default must be allowed. Before setup()
// is called, the value that the user gives is stored in `value`.
class Options {
  public:
    virtual ~Options() = default;
    // A real number: `--name 2.5`.
    virtual void add(const std::string& name, double& value, const std::string& help,
                     Range allowed = {}) = 0;
    // A whole number from 0 to 2^32-1, or within narrower bounds.
    virtual void add(const std::string& name, std::uint32_t& value, const std::string& help,
                     Range allowed = {}) = 0;
    // A whole number from 0 to 2^64-1, or within narrower bounds.
    virtual void add(const std::string& name, std::uint64_t& value, const std::string& help,
                     Range allowed = {}) = 0;
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

// For setup(): checks a rule that a Range cannot express, for example a rule about two options.
// Throws SetupError if `kept` is false, with a text such as "--mean 0: must be above 0 where
// --lookahead is 0".
void require(bool kept, const std::string& option, double value, const std::string& rule);

}  // namespace nw
