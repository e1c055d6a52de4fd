// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the cable of our own port leads now.

#include <optional>

#include "collectors/infiniband/mad_engine.hpp"
#include "collectors/infiniband/subnet.hpp"

namespace weft::infiniband {

/// Asks whoever is behind our own port for its NodeInfo.
class OwnCableQuestion final : public MadAsker {
 public:
  /// `subnet` must outlive it.
  explicit OwnCableQuestion(const Subnet& subnet) : subnet_(subnet) {}
  bool next(MadRequest& request) override;
  void encode(const MadRequest& request, MadBytes mad) override;
  void answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint now) override;

  /// Who answered; nullopt: nobody.
  std::optional<NodeGuid> neighbor() const { return neighbor_; }

 private:
  const Subnet& subnet_;
  bool is_asked_ = false;
  std::optional<NodeGuid> neighbor_;
};

/// Who was found behind our own port; nullopt: nobody yet.
std::optional<NodeGuid> own_neighbor(const Subnet& subnet);

}  // namespace weft::infiniband
