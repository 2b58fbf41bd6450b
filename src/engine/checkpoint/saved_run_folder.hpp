// SPDX-License-Identifier: Apache-2.0
// The folder of --checkpoint. It contains at most one valid saved run, which latest.json names.
//
//     DIR/latest.json           name of the saved run, checksum of its manifest, figures for people
//     DIR/checkpoint-000007/    manifest, a file of groups per worker, a file of spans per rank
//
// A new saved run is written beside the old one and brought to the disk. Only then is latest.json
// replaced, by rename. So after the first complete saved run, the folder contains a complete saved
// run at any moment. A folder that latest.json does not name was left by a run that ended while it
// wrote this folder. Such folders are removed when the next saved run is begun. If latest.json is
// missing, folders with a manifest are kept. Files are removed only if they have numawarp's names,
// and folders are removed only if they contain nothing else.
//
// Thread: one at a time. The first rank writes; all ranks read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/checkpoint/saved_run.hpp"

namespace nw {

// Reserves a folder for one run during the lifetime of the object, because two runs would remove
// each other's files. The lock is flock(2) on a file in the folder. If the file cannot be opened,
// or the file system has no locks, the object has no effect.
class FolderLock {
  public:
    // Throws SetupError if another run holds the lock for some seconds. The message names the other
    // process.
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

    // Throws SetupError if there is no saved run, if it is damaged, or if its identity is not
    // `own`. The sections of groups are verified later, when they are read.
    SavedRun read(const RunIdentity& own) const;

    // Creates an empty folder for a new saved run and returns its path. Removes folders that
    // interrupted runs have left, but never the saved run that latest.json names. Throws
    // MachineError.
    std::string begin();
    // Makes the new saved run the valid one. Requires: all its files except the manifest are on the
    // disk. Throws MachineError.
    void complete(const SavedRun& run);
    // Records in latest.json that the run ended at the time `at`, so that a later restart can
    // report this. Does nothing if there is no saved run. Throws MachineError.
    void note_over(VirtualTime at);
    // Removes the files of the new saved run, unless complete() has made it the valid one.
    void abandon() const noexcept;

    static std::string groups_file(std::uint32_t rank, std::uint32_t worker);
    static std::string trace_file(std::uint32_t rank);

  private:
    std::string latest_name() const;  // empty: there is no saved run

    std::string directory_;
    std::optional<std::string> latest_;  // known after the first begin() or complete()
    std::string new_name_;
    bool is_synced_ = true;  // false: the rename of latest.json may not be on the disk
};

}  // namespace nw
