// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/cli/terminal_text.hpp"

#include <gtest/gtest.h>

namespace weft::usage {
namespace {

TEST(Printable, NothingSteersTheTerminalOrTheEye) {
  EXPECT_EQ(printable("gpu-1 \u00e9 \u2026 \u4e2d"), "gpu-1 \u00e9 \u2026 \u4e2d");
  EXPECT_EQ(printable("a\x1b[2J\nb\x7f\u009b"), "a?[2J?b??");
  EXPECT_EQ(printable("a\u202eb\u2066c\u200f\u061c\u0634"), "a?b?c??\u0634");
  EXPECT_EQ(printable("\xe2\x80"), "\xe2\x80") << "cut";
}

}  // namespace
}  // namespace weft::usage
