// Where in the source a function was called.
#pragma once

#include <source_location>
#include <version>

namespace nw {

// std::source_location with one layout for all compilers: clang before version 16 has none with libstdc++, and its programs
// use libraries that g++ compiled.
class SourceLocation {
  public:
    // A place that is unknown.
    constexpr SourceLocation() noexcept = default;

    // As default argument of a function: where that function is called.
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

    // The name of the source file, as the compiler was given it.
    constexpr const char* file_name() const noexcept { return file_; }
    // The name of the calling function; clang before version 16: without return type and parameters.
    constexpr const char* function_name() const noexcept { return function_; }
    // The number of the line, from 1; 0: unknown.
    constexpr unsigned line() const noexcept { return line_; }

  private:
    constexpr SourceLocation(const char* file, const char* function, unsigned line) noexcept
        : file_(file), function_(function), line_(line) {}

    const char* file_ = "";
    const char* function_ = "";
    unsigned line_ = 0;
};

}  // namespace nw
