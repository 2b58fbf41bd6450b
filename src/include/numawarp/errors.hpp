// SPDX-License-Identifier: Apache-2.0
// The exceptions that report errors of a model or of its configuration.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>

namespace nw {
namespace detail {
// The shortest text that identifies the number, such as "-1e-300" or "inf".
inline std::string number_text(double number) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}
}  // namespace detail

// A wrong option, file or parameter, found before the run starts. The program ends with exit code
// 2. The text is one line with the option or key, the value, and the allowed values.
class SetupError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// A handler has broken a rule of the engine. The exception is thrown inside the handler. It is
// reported, with exit code 3, only if the event is committed.
class ModelError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace nw
