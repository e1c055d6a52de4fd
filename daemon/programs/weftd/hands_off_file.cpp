// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/hands_off_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "daemon/platform/runtime/lane.hpp"
#include "fabric/result.hpp"

namespace weft::daemon {

std::string probe_hands_off_file(const std::filesystem::path& file) {
  struct stat ignored {};
  // Of a link itself, not of what it leads to: a link that leads nowhere is there.
  if (::lstat(file.c_str(), &ignored) == 0) return file.string() + " exists";
  if (errno == ENOENT) return {};
  return file.string() + " cannot be looked at: " + errno_message(errno);
}

struct HandsOffFile::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::filesystem::path file;
  Probe probe;
  std::uint64_t asked = 0;     ///< number of the newest look that somebody wants
  std::uint64_t answered = 0;  ///< newest look that `why` is the answer to, and to all before
  std::string why;
  bool over = false;

  void work() {
    runtime::name_this_thread("hands-off file");
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return over || asked > answered; });
      if (over) return;
      const std::uint64_t number = asked;
      lock.unlock();
      std::string found = probe(file);
      lock.lock();
      answered = number;
      why = std::move(found);
      changed.notify_all();
    }
  }
};

HandsOffFile::HandsOffFile(std::filesystem::path file, Duration patience, Probe probe)
    : patience_(patience), shared_(std::make_shared<Shared>()) {
  shared_->file = std::move(file);
  shared_->probe = std::move(probe);
  if (is_configured()) std::thread([shared = shared_] { shared->work(); }).detach();
}

HandsOffFile::~HandsOffFile() {
  const std::lock_guard lock(shared_->mutex);
  shared_->over = true;
  shared_->changed.notify_all();
}

bool HandsOffFile::is_configured() const {
  return !shared_->file.empty();
}

HandsOffFile::Look HandsOffFile::look() {
  if (!is_configured()) return {};
  std::unique_lock lock(shared_->mutex);
  const std::uint64_t number = ++shared_->asked;
  shared_->changed.notify_all();
  const auto is_answered = [&] { return shared_->answered >= number; };
  if (shared_->changed.wait_for(lock, patience_, is_answered)) return {number, shared_->why};
  return {number, shared_->file.string() + " cannot be looked at: its file system did not answer within " +
                      std::to_string(patience_ / std::chrono::milliseconds(1)) + " ms"};
}

}  // namespace weft::daemon
