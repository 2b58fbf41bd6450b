#include "numa/heap_call.hpp"

#include <exception>

namespace nw {

std::string caught_text() {
    const PlatformScope platform;
    try {
        throw;
    } catch (const std::exception& e) {
        return e.what();
    } catch (const std::string& text) {
        return std::string(text.begin(), text.end());
    } catch (const char* text) {
        return text;
    } catch (...) {
        return "an exception that is not derived from std::exception";
    }
}

}  // namespace nw
