// SPDX-License-Identifier: Apache-2.0
#pragma once
// A listing again and again, as watch(1) does with any command.

#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {

/// From its making on, signals that end the process wait, in all threads that are begun later as well; to be made
/// before the first of them.
class HeldSignals {
 public:
  HeldSignals();
};

/// How a listing is repeated.
struct Live {
  Duration interval;
  std::string command;  ///< "weftctl links --down": what the head of the page says
};

/// The process's words for the head of a page: without the connection flags ("--watch=2").
std::string command_text(const std::vector<std::string>& words);

/// The process's words with a number for each "--watch": the word behind it if that is one, else "--watch=2". Any other
/// word there is not its own: "ports --watch leaf-1".
std::vector<std::string> with_interval(std::vector<std::string> words);

/// "0.5", "10": seconds from 0.1 to 3600. Throws kWrongUsage for anything else.
Duration wanted_interval(const std::string& text);

/// Asks `verb` every `interval` until a signal ends it: exit status 0 for SIGINT, and the last page stays below the
/// prompt. On a terminal each page takes the place of the one before, changed rows are marked; elsewhere one follows
/// the other, with --json each on one line. A server that is lost is said, once, and asked again. Throws only what will
/// not be better the next time: kWrongUsage, kRefused. Needs HeldSignals.
Exit watch_live(const Session& session, const std::function<Exit(const Session&)>& verb, const Live& live);

/// Pretty JSON as one line.
std::string one_line(const std::string& json);

/// The part of `page` that fits: lines that are left out are counted in the last one.
std::string cut_to_height(const std::string& page, std::size_t lines);

}  // namespace weft::ctl
