// Where in the source a function was called.
#pragma once

#include <source_location>
#include <version>

namespace nw {

#ifdef __cpp_lib_source_location
using SourceLocation = std::source_location;
#else
// The compiler has the header without its contents: clang before version 16 with libstdc++. The name of a function is here
// without return type and parameters.
class SourceLocation {
  public:
    // As default argument of a function: where that function is called.
    static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                            const char* function = __builtin_FUNCTION(),
                                            unsigned line = __builtin_LINE()) noexcept {
        SourceLocation location;
        location.file_ = file;
        location.function_ = function;
        location.line_ = line;
        return location;
    }

    constexpr const char* file_name() const noexcept { return file_; }
    constexpr const char* function_name() const noexcept { return function_; }
    // 0: none.
    constexpr unsigned line() const noexcept { return line_; }

  private:
    const char* file_ = "";
    const char* function_ = "";
    unsigned line_ = 0;
};
#endif

}  // namespace nw
