// What goes wrong with a model, as exceptions.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>

namespace nw {
namespace detail {
// All of its digits, and no more: "-1e-300", "inf".
inline std::string number_text(double number) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}
}  // namespace detail

// A wrong option, file or parameter, found before the run starts: exit code 2. The text is one line
// that names the option or key, the value and what is legal.
class SetupError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// A rule of the engine that a handler broke. Thrown inside the handler; reported (exit code 3) only
// if the event is committed.
class ModelError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace nw
