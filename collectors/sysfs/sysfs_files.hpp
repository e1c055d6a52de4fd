// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files of a sysfs tree: opened once, read again and again.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::sysfs {

/// A file that is open, or none. What a device that is gone left behind reads as an error, which is what is wanted.
class SysfsFile {
 public:
  SysfsFile() = default;
  /// Opens `path` without ever blocking on it. Not open when that fails.
  explicit SysfsFile(const std::string& path);
  SysfsFile(SysfsFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  SysfsFile& operator=(SysfsFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~SysfsFile();

  bool is_open() const { return fd_ >= 0; }
  /// What it says now, from its beginning, as much as fits; nullopt on any error (ENODEV, EINVAL, EISDIR).
  std::optional<std::string_view> read(std::array<char, 64>& buffer) const;

 private:
  int fd_ = -1;
};

/// The first 4096 bytes of a file without blanks around them; empty when it cannot be read.
std::string read_text(const std::string& path);
/// Last part of what a symbolic link points at; empty when it is none.
std::string link_name(const std::string& path);
/// Where a path leads when all symbolic links are followed; empty when nowhere.
std::string real_path(const std::string& path);
/// Whether the path leads to something, symbolic links followed.
bool exists(const std::string& path);

/// A name in a directory.
struct DirectoryEntry {
  std::string name;
  std::uint64_t inode;
  bool operator==(const DirectoryEntry&) const = default;
};
/// Entries without those that begin with a dot, sorted by name; empty when it is no directory. 4096 at most.
std::vector<DirectoryEntry> list_directory(const std::string& path);

/// The bond that an interface is a part of; empty without one.
std::string bond_of(const std::string& sysfs_root, const std::string& interface);
/// Whether the interface at `path` stands for another function's port (phys_port_name "pf0vf3", "pf0sf88", "c1pf0").
bool is_representor(const std::string& path);
/// Whether the device at `path` is a part of an adapter made for others: a virtual function (SR-IOV) or a subfunction.
bool is_virtual_function(const std::string& path);
/// Whether it is one, and a driver of this host works on the function that it is a part of: that one has an interface
/// or an RDMA device, which counts what passes the physical port.
bool is_beside_its_port(const std::string& path);

}  // namespace weft::sysfs
