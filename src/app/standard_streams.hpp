// SPDX-License-Identifier: Apache-2.0
// Makes the inherited file descriptors and signal dispositions safe before files are opened.
#pragma once

namespace nw {

// Opens /dev/null for each of the descriptors 0 to 2 that is closed. Otherwise the first opened
// files would receive these numbers, and the report would be written into a table. Writing to a
// standard output that was closed still fails.
// Ignores SIGXFSZ, so that write() fails for a file beyond `ulimit -f`; SIGXFSZ would end the
// process without a message.
void secure_standard_streams() noexcept;

}  // namespace nw
