// SPDX-License-Identifier: Apache-2.0
// The place in the source from which a function was called.
#pragma once

#include <source_location>
#include <version>

namespace nw {

// A substitute for std::source_location, with the same layout for all compilers. It is needed
// because clang before version 16 has no std::source_location with libstdc++. A program that such a
// clang compiles may use a library that g++ has compiled.
class SourceLocation {
  public:
    // An unknown place.
    constexpr SourceLocation() noexcept = default;

    // As the default argument of a function: the place of the call of this function.
#ifdef __cpp_lib_source_location
    static constexpr SourceLocation current(
        std::source_location where = std::source_location::current()) noexcept {
        return {where.file_name(), where.function_name(), where.line()};
    }
#else
    static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                            const char* function = __builtin_FUNCTION(),
                                            unsigned line = __builtin_LINE()) noexcept {
        return {file, function, line};
    }
#endif

    // The name of the source file, as it was given to the compiler.
    constexpr const char* file_name() const noexcept { return file_; }
    // The name of the calling function. With clang before version 16 it has no return type and no
    // parameters.
    constexpr const char* function_name() const noexcept { return function_; }
    // The line number, from 1; 0: unknown.
    constexpr unsigned line() const noexcept { return line_; }

  private:
    constexpr SourceLocation(const char* file, const char* function, unsigned line) noexcept
        : file_(file), function_(function), line_(line) {}

    const char* file_ = "";
    const char* function_ = "";
    unsigned line_ = 0;
};

}  // namespace nw
