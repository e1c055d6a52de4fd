// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/node_name_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace weft::infiniband {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(NodeNameMap, ReadsEntriesAndComments) {
  const Result<NodeNameMap> names = parse_node_name_map(
      "# IB1\n"
      "\n"
      "0x0008f104003f125c \"IB1 (Rack 11 slot 1   ) ISR9288\"\n"
      "  8f10400411a08\t\"SW1 # one\"  # first\r\n"
      "0x0008f104003f125c \"IB1 (Rack 11 slot 1   ) ISR9288\"");
  ASSERT_TRUE(names) << names.error().message;
  EXPECT_EQ(names->size(), 2U);
  EXPECT_EQ(names->at(NodeGuid{0x0008f104003f125c}), "IB1 (Rack 11 slot 1   ) ISR9288");
  EXPECT_EQ(names->at(NodeGuid{0x0008f10400411a08}), "SW1 # one");
}

TEST(NodeNameMap, AnEmptyMapIsAMap) {
  EXPECT_TRUE(parse_node_name_map("# nothing yet\n"));
}

TEST(NodeNameMap, ReportsEveryFaultWithItsLine) {
  const Result<NodeNameMap> names = parse_node_name_map(
      "switch-1 \"a\"\n"
      "0x0 \"a\"\n"
      "0x1 a\n"
      "0x2 \"a\n"
      "0x3 \"\x01 \"\n"
      "0x4 \"a\" b\n"
      "0x5 \"a\"\n"
      "0x5 \"b\"\n" +
      std::string(5000, 'x') + "\n");
  ASSERT_FALSE(names);
  EXPECT_EQ(names.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(names.error().message,
              AllOf(HasSubstr("line 1: 'switch-1' is no GUID"), HasSubstr("line 2:"),
                    HasSubstr("line 3: after the GUID"), HasSubstr("line 4:"), HasSubstr("line 5: the name is empty"),
                    HasSubstr("line 6: unexpected text after the name"), Not(HasSubstr("line 7:")),
                    HasSubstr("line 8: 0x0000000000000005 is already named 'a'"), HasSubstr("line 9: longer than")));
}

}  // namespace
}  // namespace weft::infiniband
