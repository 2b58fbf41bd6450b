// docs/reference/options.md, from the table that the command line is read with.
#pragma once

#include <string>

namespace nw {

std::string options_reference();

}  // namespace nw
