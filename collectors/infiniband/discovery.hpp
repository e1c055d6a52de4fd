// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds nodes and cables by directed routes: the whole subnet from nothing, or only what is behind given ports.

#include <cstdint>
#include <vector>

#include "collectors/infiniband/mad_engine.hpp"
#include "collectors/infiniband/subnet.hpp"

namespace weft::infiniband {

/// Questions of a discovery, asked through MadEngine::run. Start with begin() or look_behind(), run, then finish().
class Discovery final : public MadAsker {
 public:
  /// `subnet` gets the nodes that are found, named by `names`; both must outlive the object.
  Discovery(Subnet& subnet, const NodeNameMap& names) : subnet_(subnet), names_(names) {}

  /// Starts from the node we sit on.
  void begin();
  /// Asks who is behind a port whose link is up.
  void look_behind(PortIndex port);
  /// Asks a node for its description again, and a switch for its SwitchInfo.
  void refresh_description(NodeIndex node);
  /// Something is left to be asked.
  bool has_questions() const { return next_ < questions_.size(); }

  /// After the run: settles contradictions that need a second look (asks more; run again while has_questions()).
  void finish();
  /// True when a node no longer has the number of ports it had: only a new epoch can show that.
  bool needs_new_epoch() const { return needs_new_epoch_; }
  /// Replies that no sane agent gives (port counts beyond 254, no GUID …), since construction.
  std::uint64_t absurd_replies() const { return absurd_replies_; }

  bool next(MadRequest& request) override;
  void encode(const MadRequest& request, MadBytes mad) override;
  void answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint now) override;

 private:
  enum class Kind : std::uint8_t {
    kSelf,         // NodeInfo of the node we sit on
    kBehind,       // NodeInfo of whoever is behind `port`
    kDescription,  // of `node`
    kSwitchInfo,   // of `node`
    kPortInfo,     // of `port`
    kOldCable,     // NodeInfo behind `port`: is the cable that `other` contradicts still there?
    kOtherSide,    // PortInfo of `other`, asked by way of `port`: does it agree with what the node said of it?
    kOwnSide,      // the same by the node's own route and afresh: what we knew of it may be from before it came back
    kOldPlace,     // NodeInfo behind `port`, where a node was found first: is it still what it was? `other` says not
    kSecondName,   // NodeDescription behind `port`, of the second node with one GUID
  };
  struct Question {
    Kind kind;
    NodeIndex node = kNoIndex;
    PortIndex port = kNoIndex;
    PortIndex other = kNoIndex;
  };

  static bool goes_behind(Kind kind);
  void ask(Question question) { questions_.push_back(question); }
  void ask_about(NodeIndex node);
  void found(PortIndex behind, const NodeInfo& info);
  void found_different(NodeIndex known, PortIndex behind);
  void connect(PortIndex a, PortIndex b);
  void report_duplicate(NodeGuid guid, PortIndex first_behind, PortIndex second_behind);
  void port_info(PortIndex port, ConstMadBytes mad);

  Subnet& subnet_;
  const NodeNameMap& names_;
  std::vector<Question> questions_;
  std::size_t next_ = 0;
  std::vector<bool> looked_behind_;   // by port: asked in this run
  std::vector<PortIndex> connected_;  // ports whose cable this run found
  bool needs_new_epoch_ = false;
  std::uint64_t absurd_replies_ = 0;
};

}  // namespace weft::infiniband
