// SPDX-License-Identifier: Apache-2.0
#include "collectors/sysfs/sysfs_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "collectors/sysfs/sysfs_text.hpp"

namespace weft::sysfs {

// O_NONBLOCK: in a tree that is not the kernel's a FIFO may lie in wait.
SysfsFile::SysfsFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}

SysfsFile::~SysfsFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<std::string_view> SysfsFile::read(std::array<char, 64>& buffer) const {
  const ssize_t got = ::pread(fd_, buffer.data(), buffer.size(), 0);
  if (got < 0) return std::nullopt;
  return std::string_view(buffer.data(), static_cast<std::size_t>(got));
}

std::string read_text(const std::string& path) {
  std::string text;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return text;
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got > 0) text = trimmed({buffer.data(), static_cast<std::size_t>(got)});
  ::close(fd);
  return text;
}

std::string link_name(const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  if (length <= 0) return {};
  const std::string_view whole(target.data(), static_cast<std::size_t>(length));
  return std::string(whole.substr(whole.rfind('/') + 1));
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> resolved(::realpath(path.c_str(), nullptr), &::free);
  return resolved ? std::string(resolved.get()) : std::string();
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

std::vector<DirectoryEntry> list_directory(const std::string& path) {
  constexpr std::size_t kMostEntries = 4096;
  std::vector<DirectoryEntry> entries;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), &::closedir);
  if (!directory) return entries;
  // One thread reads one stream of its own.
  while (const dirent* entry = ::readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe)
    if (entry->d_name[0] == '.') continue;
    if (entries.size() >= kMostEntries) break;
    entries.push_back({entry->d_name, entry->d_ino});
  }
  std::ranges::sort(entries, {}, &DirectoryEntry::name);
  return entries;
}

std::string bond_of(const std::string& sysfs_root, const std::string& interface) {
  if (interface.empty()) return {};
  const std::string path = sysfs_root + "/class/net/" + interface + "/master";
  return exists(path + "/bonding") ? link_name(path) : std::string();
}

bool is_representor(const std::string& path) {
  // A port of the adapter itself is "p0" or "p0s1", all others name their function (net/devlink/port.c). Old drivers
  // left the physical function out.
  const std::string name = read_text(path + "/phys_port_name");
  return name.find("pf") != std::string::npos || name.find("vf") != std::string::npos;
}

bool is_virtual_function(const std::string& path) {
  return exists(path + "/physfn") || exists(path + "/sfnum");
}

bool is_beside_its_port(const std::string& path) {
  if (!is_virtual_function(path)) return false;
  const std::string parent = path + (exists(path + "/physfn") ? "/physfn" : "/..");
  return !list_directory(parent + "/net").empty() || !list_directory(parent + "/infiniband").empty();
}

}  // namespace weft::sysfs
