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
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
    bool has_least = true;  // the bound itself is legal
    bool has_most = true;

    constexpr Range to(double bound) const noexcept { return {least, bound, has_least, true}; }
    constexpr Range below(double bound) const noexcept { return {least, bound, has_least, false}; }

    constexpr bool contains(double value) const noexcept {
        return value - value == 0 && (has_least ? value >= least : value > least) &&
               (has_most ? value <= most : value < most);
    }
    // "from 0 to 1"; empty without bounds.
    std::string text() const;
};
constexpr Range from(double bound) noexcept { return {.least = bound}; }
constexpr Range above(double bound) noexcept { return {.least = bound, .has_least = false}; }

// Where a model declares its own command-line options (also keys in --config FILE.toml).
// `value` holds the default, which must be legal, and receives what the user wrote.
class Options {
  public:
    virtual ~Options() = default;
    virtual void add(const std::string& name, double& value, const std::string& help,
                     Range legal = {}) = 0;
    virtual void add(const std::string& name, std::uint32_t& value, const std::string& help,
                     Range legal = {}) = 0;
    virtual void add(const std::string& name, std::uint64_t& value, const std::string& help,
                     Range legal = {}) = 0;
    virtual void add(const std::string& name, std::string& value, const std::string& help) = 0;
    virtual void add_flag(const std::string& name, bool& value, const std::string& help) = 0;
    // One of several words, or numbers.
    virtual void add_choice(const std::string& name, std::string& value,
                            const std::vector<std::string>& words, const std::string& help) = 0;
    virtual void add_choice(const std::string& name, std::uint32_t& value,
                            const std::vector<std::uint32_t>& numbers, const std::string& help) = 0;
};

// For setup(): a rule that no range can say, as one between two options. Throws SetupError unless it is
// kept: "--mean 0: must be above 0 where --lookahead is 0".
void require(bool kept, const std::string& option, double value, const std::string& rule);

}  // namespace nw
