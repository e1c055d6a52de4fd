// SPDX-License-Identifier: Apache-2.0
#pragma once
// Host, cable or switch? Which part of a link to touch first, how sure that is, and why.

#include "analyzer/advice/link_case.hpp"

namespace weft::analyzer {

/// Weighs what is known of the link: published shares of causes (weights.hpp), then each sign that was read. What was
/// not read says nothing. Where the signs leave parts even, Advice::is_clear is false and `first` says so. A pure
/// function; never fails.
Advice whose_fault(const LinkCase& link);

}  // namespace weft::analyzer
