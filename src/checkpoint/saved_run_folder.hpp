// The folder of --checkpoint: at most one saved run that counts, named by latest.json.
//
//     DIR/latest.json              which one, the checksum of its manifest, and figures for people
//     DIR/checkpoint-000007/       manifest, a file of groups a worker, one of spans a rank
//
// A new one is written beside the old one, brought to the disk, and only then does latest.json change,
// by rename: at any moment a complete one is there, once there was one. Folders that latest.json does
// not name are what an end amid writing left; they go when the next one is begun. Only files that have
// our names are ever removed, and folders that hold nothing else.
//
// Thread: one at a time. Writing: the first rank. Reading: all ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "checkpoint/saved_run.hpp"

namespace nw {

// Keeps a folder for one run while it lives: two would remove each other's files. By flock(2) on a file
// in it; a file system without locks is taken at its word.
class FolderLock {
  public:
    // Throws SetupError, which names who has it, if another has and keeps it for some seconds.
    FolderLock(const std::string& option, const std::string& directory);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

  private:
    int descriptor_;
};

class SavedRunFolder {
  public:
    explicit SavedRunFolder(std::string directory) : directory_(std::move(directory)) {}

    bool has_saved_run() const;

    // Throws SetupError, with what is legal, if there is none, it is damaged, or it is that of another
    // run: one with another identity. (Its groups are looked at when they are read.)
    SavedRun read(const RunIdentity& own) const;

    // An empty folder for a new one; its path. Throws MachineError, and has then removed nothing.
    std::string begin();
    // The new one counts from now on: all its files are there. Throws MachineError.
    void complete(const SavedRun& run);
    // The run is over, at that time: who goes on from the one that counts is told. Nothing, where none counts.
    // Throws MachineError.
    void note_over(VirtualTime at);
    // There will be no new one: its files go.
    void abandon() const noexcept;

    static std::string groups_file(std::uint32_t rank, std::uint32_t worker);
    static std::string trace_file(std::uint32_t rank);

  private:
    std::string latest_name() const;  // empty: none

    std::string directory_;
    std::optional<std::string> latest_;  // once it was looked up, or written
    std::string new_name_;
    bool is_synced_ = true;  // what latest.json says is on the disk
};

}  // namespace nw
