// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/field_reader.hpp"

#include <gtest/gtest.h>
#include <infiniband/mad.h>

#include <random>

namespace weft::infiniband {
namespace {

struct Known {
  MAD_FIELDS field;
  int base;
  int bits;
};

// The peer is libibmad itself, on random datagrams.
TEST(FieldReader, ReadsWhatLibibmadReads) {
  const std::vector<Known> fields{{IB_PC_ERR_SYM_F, IB_PC_DATA_OFFS, 16},
                                  {IB_PC_LINK_RECOVERS_F, IB_PC_DATA_OFFS, 8},
                                  {IB_PC_LINK_DOWNED_F, IB_PC_DATA_OFFS, 8},
                                  {IB_PC_ERR_LOCALINTEG_F, IB_PC_DATA_OFFS, 4},
                                  {IB_PC_ERR_EXCESS_OVR_F, IB_PC_DATA_OFFS, 4},
                                  {IB_PC_VL15_DROPPED_F, IB_PC_DATA_OFFS, 16},
                                  {IB_PC_XMT_WAIT_F, IB_PC_DATA_OFFS, 32},
                                  {IB_PC_QP1_DROP_F, IB_PC_DATA_OFFS, 16},
                                  {IB_PC_PORT_VL_XMIT_WAIT15_F, IB_PC_DATA_OFFS, 16},
                                  {IB_PESC_FEC_UNCORR_BLOCK_CTR_LANE11_F, IB_PC_DATA_OFFS, 32},
                                  {IB_PORT_STATE_F, IB_SMP_DATA_OFFS, 4},
                                  {IB_PORT_PHYS_STATE_F, IB_SMP_DATA_OFFS, 4},
                                  {IB_PORT_LMC_F, IB_SMP_DATA_OFFS, 3},
                                  {IB_PORT_CAPMASK_F, IB_SMP_DATA_OFFS, 32},
                                  {IB_PORT_LINK_WIDTH_ACTIVE_F, IB_SMP_DATA_OFFS, 8},
                                  {IB_PORT_LINK_SPEED_EXT_ENABLED_F, IB_SMP_DATA_OFFS, 5},
                                  {IB_PORT_LINK_SPEED_EXT_ACTIVE_F, IB_SMP_DATA_OFFS, 4},
                                  {IB_PORT_SMSL_F, IB_SMP_DATA_OFFS, 4}};
  const std::vector<MAD_FIELDS> wide{IB_PC_EXT_XMT_BYTES_F, IB_PC_EXT_RCV_MPKTS_F, IB_PC_EXT_ERR_SYM_F,
                                     IB_PC_EXT_QP1_DROP_F};
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::array<std::uint8_t, kMadSize> mad;
    for (std::uint8_t& byte : mad) byte = static_cast<std::uint8_t>(random());
    for (const Known& known : fields)
      EXPECT_EQ(FieldReader(known.field, known.base, known.bits).read(mad),
                mad_get_field(mad.data(), known.base, known.field))
          << "field " << known.field;
    for (const MAD_FIELDS field : wide)
      EXPECT_EQ(FieldReader(field, IB_PC_DATA_OFFS, 64).read(mad), mad_get_field64(mad.data(), IB_PC_DATA_OFFS, field));
  }
}

TEST(MadHeader, IsWhereLibibmadLooksForIt) {
  std::array<std::uint8_t, kMadSize> mad;
  encode_subnet_get(mad, attribute::kPortInfo, 0x01020304, nullptr);
  set_transaction(mad, 0xA1B2C3D4);
  EXPECT_EQ(mad_get_field(mad.data(), 0, IB_MAD_BASEVER_F), 1U);
  EXPECT_EQ(mad_get_field(mad.data(), 0, IB_MAD_MGMTCLASS_F), 1U);
  EXPECT_EQ(mad_get_field(mad.data(), 0, IB_MAD_CLASSVER_F), 1U);
  EXPECT_EQ(mad_get_field(mad.data(), 0, IB_MAD_METHOD_F), static_cast<unsigned>(IB_MAD_METHOD_GET));
  EXPECT_EQ(mad_get_field(mad.data(), 0, IB_MAD_ATTRID_F), static_cast<unsigned>(IB_ATTR_PORT_INFO));
  EXPECT_EQ(mad_get_field(mad.data(), 0, IB_MAD_ATTRMOD_F), 0x01020304U);
  EXPECT_EQ(mad_get_field64(mad.data(), 0, IB_MAD_TRID_F), 0xA1B2C3D4U);
  EXPECT_EQ(transaction_of(mad), 0xA1B2C3D4U);
  encode_performance_get(mad, attribute::kPortCounters, {7});
  EXPECT_EQ(mad_get_field(mad.data(), IB_PC_DATA_OFFS, IB_PC_PORT_SELECT_F), 7U);
  encode_performance_get(mad, attribute::kPortSamplesControl, {9});
  EXPECT_EQ(mad_get_field(mad.data(), IB_PC_DATA_OFFS, IB_PSC_PORT_SELECT_F), 9U);
  mad_set_field(mad.data(), 0, IB_MAD_STATUS_F, 0x800C);
  EXPECT_EQ(status_of(mad), 0x000C) << "without the direction bit";
}

}  // namespace
}  // namespace weft::infiniband
