// What a process inherits, made safe before anything is opened or written.
#pragma once

namespace nw {

// Takes the numbers 0 to 2 where they were closed: else the first files opened would get them, and
// the report would be written into a table. What is written to standard output then still fails.
// A file that grows beyond `ulimit -f` makes write() fail, rather than SIGXFSZ end the process without
// a word.
void secure_standard_streams() noexcept;

}  // namespace nw
