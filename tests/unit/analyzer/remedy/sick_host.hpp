// SPDX-License-Identifier: Apache-2.0
#pragma once
// A host whose adapter makes errors.

#include <utility>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {

/// Host 0 of leaf 0 has trouble at its access link.
struct SickHost : Book {
  explicit SickHost(RemedySettings with = automatic()) : Book(std::move(with)) {
    errors("leaf-0", "host-0-0 mlx5_0");
    sick = fabric.find("host-0-0 mlx5_0");
  }
  NodeGuid guid() const { return fabric.nodes()[sick].guid; }
  GuardVerdict identity() {
    book->review(look());
    return verdict(plan(1), Guard::kIdentity);
  }
  NodeIndex sick = kNoIndex;
};

}  // namespace weft::analyzer
