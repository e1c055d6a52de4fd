// SPDX-License-Identifier: Apache-2.0
#pragma once
// A source that asks the kernel the same questions about each interface again and again: ethtool netlink, dcbnl.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectors/ethernet/ethtool_message.hpp"
#include "collectors/ethernet/interface_scan.hpp"
#include "collectors/netlink/socket.hpp"
#include "collectors/series/answer_slots.hpp"

namespace weft::ethernet {

/// Puts what an answer had into the slots of that answer. With no sink it is only learnt.
void put_figures(AnswerSlots& slots, const Figures& figures, const Interface& interface, ValueSink* sink);

/// The questions of one source, with what their answers had so far.
class KernelAnswers {
 public:
  /// Turns the attributes of one kind of answer into figures.
  using Parser = void (*)(netlink::Bytes attributes, Figures& figures);

  /// Answers have a family header of `header_size` bytes before their attributes.
  explicit KernelAnswers(std::size_t header_size) : header_size_(header_size) {}

  /// Removes all questions.
  void clear() { questions_.clear(), requests_.clear(); }
  /// Adds a question about `interface`; `parser` reads the answers to it.
  void add(const Interface& interface, netlink::Request request, Parser parser);
  /// Asks once, learns what the answers have and drops the questions that have no answer here. A driver may have one
  /// later, when the link is up.
  Result<void> learn(netlink::Socket& socket);
  /// Enters the series that the answers had.
  void enter(SeriesRegistry& book);
  /// Asks all questions and writes the values to `sink`.
  Result<void> read(netlink::Socket& socket, ValueSink& sink) { return ask(socket, &sink); }
  /// Whether answers had values that are not entered yet.
  bool has_new() const;

 private:
  struct Question {
    Interface interface;
    Parser parser;
    AnswerSlots slots;
    bool is_answered = false;
  };

  Result<void> ask(netlink::Socket& socket, ValueSink* sink);

  std::size_t header_size_;
  std::vector<Question> questions_;
  std::vector<netlink::Request> requests_;
  Figures figures_;
};

}  // namespace weft::ethernet
