// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/live.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <ctime>
#include <iostream>
#include <sstream>

#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {
namespace {

// The alternate screen, without a cursor and without line breaks of the terminal's own; and back.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";

// Options that say how weftd is reached: the head of a page names it anyhow.
constexpr std::array<std::string_view, 5> kConnectionFlags{"--server", "--ca", "--cert", "--key", "--token-file"};

// For the signal handler: only what is lock-free, and texts that outlive its sight of them.
std::atomic<bool> on_screen{false};
std::atomic<const std::string*> last_page{nullptr};

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Runs between two pages or while the server is asked, never while something is written.
void end(int signal) {
  if (on_screen.load()) {
    write_all(kLeave);
    if (const std::string* page = last_page.load()) write_all(*page);
  }
  ::_exit(signal == SIGINT ? 0 : 128 + signal);
}

void redraw(int /*signal*/) {}  // the sleep ends, that is all

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) sigaddset(&signals, signal);
  return signals;
}

/// Signals that wait are let through while it lives.
class SignalsWelcome {
 public:
  SignalsWelcome() {
    const sigset_t signals = ending_signals();
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  }
  ~SignalsWelcome() {
    const sigset_t signals = ending_signals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  }
  SignalsWelcome(const SignalsWelcome&) = delete;
  SignalsWelcome& operator=(const SignalsWelcome&) = delete;
};

void take_signals() {
  struct sigaction action {};
  action.sa_handler = end;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  action.sa_handler = redraw;
  ::sigaction(SIGWINCH, &action, nullptr);
}

/// Ends early when the terminal changes its size.
void sleep_for(Duration duration) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(duration);
  timespec time{.tv_sec = whole.count(), .tv_nsec = std::chrono::nanoseconds(duration - whole).count()};
  const sigset_t none = [] {
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    const sigset_t ending = ending_signals();
    for (int signal = 1; signal < NSIG; ++signal)
      if (sigismember(&ending, signal) == 1) sigdelset(&now, signal);
    return now;
  }();
  ::ppoll(nullptr, 0, &time, &none);
}

std::string clock_text(TimePoint now) {
  google::protobuf::Timestamp stamp;
  stamp.set_seconds(std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count());
  return time_text(stamp);
}

struct Size {
  std::size_t lines = 24;
  std::size_t columns = 80;
};

Size terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {.lines = size.ws_row, .columns = size.ws_col};
}

/// Pages on a terminal, each in the place of the one before.
class Screen {
 public:
  Screen() { write_all(kEnter), on_screen = true; }
  ~Screen() {
    on_screen = false;
    write_all(kLeave);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void show(const std::string& head, const std::string& page, std::size_t lines) {
    std::string drawn(kHome);
    const std::string fitting = cut_to_height(head + page, lines);
    for (std::size_t at = 0; at < fitting.size();) {
      const std::size_t end = std::min(fitting.find('\n', at), fitting.size());
      // Whatever follows the last line is cleared with what is below it.
      drawn += (at == 0 ? "" : "\n") + fitting.substr(at, end - at) + std::string(kClearLine);
      at = end + 1;
    }
    write_all(drawn + std::string(kClearBelow));
    pages_[next_] = head + page;
    last_page = &pages_[next_];
    next_ = (next_ + 1) % pages_.size();
  }

 private:
  std::array<std::string, 2> pages_;  // one may be read by the handler while the other is written
  std::size_t next_ = 0;
};

/// Whether the server is reachable, for the head of the page.
class Reach {
 public:
  bool lost() const { return since_ != kNever; }
  TimePoint since() const { return since_; }
  const std::string& why() const { return why_; }
  /// The first time: true.
  bool lose(TimePoint now, std::string why) {
    why_ = std::move(why);
    return std::exchange(since_, lost() ? since_ : now) == kNever;
  }
  /// If it was lost: true.
  bool find() { return std::exchange(since_, kNever) != kNever; }

 private:
  TimePoint since_ = kNever;
  std::string why_;
};

struct Pass {
  bool good = false;
  std::string page;
  std::string why;
};

Pass ask(const Session& session, const std::function<Exit(const Session&)>& verb) {
  std::ostringstream out;
  Session now{session.client,   out,         session.json,   session.plain,
              session.terminal, session.now, session.colour, session.columns,
              session.memory};
  try {
    verb(now);
    return {.good = true, .page = out.str(), .why = {}};
  } catch (const Failure& failure) {
    if (failure.exit == Exit::kWrongUsage || failure.exit == Exit::kRefused) throw;
    return {.good = false, .page = {}, .why = printable(failure.what())};
  }
}

std::string head_of(const Session& session, const Live& live, const Reach& reach, std::size_t columns) {
  const double seconds = std::chrono::duration<double>(live.interval).count();
  const std::string left = "Every " + seconds_text(seconds) + ": " + live.command;
  const std::string right = session.client.server() + "  " + clock_text(session.now);
  const bool both = width(left) + width(right) + 2 <= columns;
  std::string head = both ? left + std::string(columns - width(left) - width(right), ' ') + right
                          : shortened(left, columns, session.plain) + '\n' + shortened(right, columns, session.plain);
  head += '\n';
  if (reach.lost()) {
    const std::string text =
        "UNREACHABLE since " + clock_text(reach.since()) + ": " + reach.why() + ". The data below is older. Retrying.";
    for (const std::string& line : wrapped(text, columns))
      head += (session.colour ? toned(line, Tone::kBad) : line) + '\n';
  } else if (session.memory->gone() > 0) {
    head += std::to_string(session.memory->gone()) + " rows removed since the previous page\n";
  }
  return head + '\n';
}

}  // namespace

HeldSignals::HeldSignals() {
  const sigset_t signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

std::string command_text(const std::vector<std::string>& words) {
  std::string text = "weftctl";
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string name = word.substr(0, word.find('='));
    const bool is_connection = std::ranges::find(kConnectionFlags, name) != kConnectionFlags.end();
    if (is_connection && name == word) ++i;  // its value
    if (!is_connection && name != "--watch") text += ' ' + printable(word);
  }
  return text;
}

std::vector<std::string> with_interval(std::vector<std::string> words) {
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    if (words[i] != "--watch") continue;
    const bool number = i + 1 < words.size() && !words[i + 1].empty() &&
                        words[i + 1].find_first_not_of("0123456789.") == std::string::npos;
    words[i] += '=' + (number ? words[i + 1] : "2");
    if (number) words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  return words;
}

Duration wanted_interval(const std::string& text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || !(seconds >= 0.1 && seconds <= 3600))
    throw Failure(Exit::kWrongUsage, "--watch needs seconds, from 0.1 to 3600");
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

std::string one_line(const std::string& json) {
  std::string line;
  std::istringstream lines(json);
  for (std::string part; std::getline(lines, part);)
    line += part.substr(std::min(part.find_first_not_of(' '), part.size()));
  return line;
}

std::string cut_to_height(const std::string& page, std::size_t lines) {
  const auto has = static_cast<std::size_t>(std::ranges::count(page, '\n'));
  if (lines == 0 || has <= lines) return page;
  std::size_t end = 0;
  for (std::size_t line = 0; line + 1 < lines; ++line) end = page.find('\n', end) + 1;
  return page.substr(0, end) + "and " + std::to_string(has - (lines - 1)) + " more lines\n";
}

Exit watch_live(const Session& session, const std::function<Exit(const Session&)>& verb, const Live& live) {
  take_signals();
  std::optional<Screen> screen;
  if (session.terminal && !session.json) screen.emplace();
  RowMemory memory;
  Reach reach;
  std::string page;
  const SystemClock clock;
  while (true) {
    Session now{session.client,   session.out, session.json,  session.plain,
                session.terminal, clock.now(), session.colour};
    const Size size = screen ? terminal_size() : Size{};
    const RowMemory before = memory;
    if (screen) {
      now.columns = size.columns;
      now.memory = &memory;
      memory.begin(now.now);
    }
    Pass pass;
    {
      const SignalsWelcome welcome;
      pass = ask(now, verb);
    }
    const bool changed = pass.good ? reach.find() : reach.lose(now.now, pass.why);
    if (pass.good) {
      page = std::move(pass.page);
    } else {
      memory = before;
    }
    if (screen) {
      screen->show(head_of(now, live, reach, size.columns), page, size.lines);
    } else {
      if (changed)
        std::cerr << "weftctl: " << (pass.good ? "the server is reachable again" : pass.why + "; retrying") << '\n';
      if (pass.good) session.out << (session.json ? one_line(page) : "# " + clock_text(now.now) + '\n' + page) << '\n';
      if (!session.out.flush()) throw Failure(Exit::kBadNews, "writing to standard output failed");
    }
    sleep_for(live.interval);
  }
}

}  // namespace weft::ctl
