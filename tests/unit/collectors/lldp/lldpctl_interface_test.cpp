// SPDX-License-Identifier: Apache-2.0
#include "collectors/lldp/lldpctl_interface.hpp"

#include <gtest/gtest.h>
#include <lldpctl.h>

#include <type_traits>

namespace weft::lldp {
namespace {

/// A type of ours for the library's.
template <typename Theirs>
struct Ours {
  using Type = Theirs;
};
template <>
struct Ours<lldpctl_conn_t> {
  using Type = LldpConnection;
};
template <>
struct Ours<lldpctl_atom_t> {
  using Type = LldpAtom;
};
template <>
struct Ours<lldpctl_atom_iter_t> {
  using Type = LldpIterator;
};
template <>
struct Ours<lldpctl_key_t> {
  using Type = LldpKey;
};
template <>
struct Ours<lldpctl_error_t> {
  using Type = LldpError;
};
template <typename Theirs>
struct Ours<Theirs*> {
  using Type = typename Ours<Theirs>::Type*;
};
template <typename Answer, typename... Arguments>
struct Ours<Answer(Arguments...)> {
  using Type = typename Ours<Answer>::Type(typename Ours<Arguments>::Type...);
};

/// Passed in the same way.
static_assert(sizeof(LldpKey) == sizeof(lldpctl_key_t) && sizeof(LldpError) == sizeof(lldpctl_error_t));
static_assert(std::is_same_v<std::underlying_type_t<lldpctl_key_t>, std::underlying_type_t<LldpKey>>);
static_assert(std::is_same_v<std::underlying_type_t<lldpctl_error_t>, std::underlying_type_t<LldpError>>);

TEST(LldpctlInterface, HasTheHeadersFunctions) {
#define EXPECT_FUNCTION(name) \
  EXPECT_TRUE((std::is_same_v<decltype(LldpFunctions::name), Ours<decltype(&lldpctl_##name)>::Type>)) << #name
  EXPECT_FUNCTION(new_name);
  EXPECT_FUNCTION(release);
  EXPECT_FUNCTION(get_default_transport);
  EXPECT_FUNCTION(get_interfaces);
  EXPECT_FUNCTION(get_port);
  EXPECT_FUNCTION(get_local_chassis);
  EXPECT_FUNCTION(last_error);
  EXPECT_FUNCTION(strerror);
  EXPECT_FUNCTION(log_callback);
  EXPECT_FUNCTION(atom_get);
  EXPECT_FUNCTION(atom_get_str);
  EXPECT_FUNCTION(atom_get_int);
  EXPECT_FUNCTION(atom_dec_ref);
  EXPECT_FUNCTION(atom_iter);
  EXPECT_FUNCTION(atom_iter_next);
  EXPECT_FUNCTION(atom_iter_value);
#undef EXPECT_FUNCTION
}

TEST(LldpctlInterface, HasTheHeadersNumbers) {
  const auto number = [](auto value) { return static_cast<int>(value); };
  EXPECT_EQ(number(LldpKey::kInterfaceName), number(lldpctl_k_interface_name));
  EXPECT_EQ(number(LldpKey::kPortNeighbors), number(lldpctl_k_port_neighbors));
  EXPECT_EQ(number(LldpKey::kPortProtocol), number(lldpctl_k_port_protocol));
  EXPECT_EQ(number(LldpKey::kPortAge), number(lldpctl_k_port_age));
  EXPECT_EQ(number(LldpKey::kPortIdSubtype), number(lldpctl_k_port_id_subtype));
  EXPECT_EQ(number(LldpKey::kPortId), number(lldpctl_k_port_id));
  EXPECT_EQ(number(LldpKey::kPortDescription), number(lldpctl_k_port_descr));
  EXPECT_EQ(number(LldpKey::kPortChassis), number(lldpctl_k_port_chassis));
  EXPECT_EQ(number(LldpKey::kPortTtl), number(lldpctl_k_port_ttl));
  EXPECT_EQ(number(LldpKey::kChassisIdSubtype), number(lldpctl_k_chassis_id_subtype));
  EXPECT_EQ(number(LldpKey::kChassisId), number(lldpctl_k_chassis_id));
  EXPECT_EQ(number(LldpKey::kChassisName), number(lldpctl_k_chassis_name));
  EXPECT_EQ(number(LldpKey::kChassisCapEnabled), number(lldpctl_k_chassis_cap_enabled));
  EXPECT_EQ(number(LldpKey::kChassisManagement), number(lldpctl_k_chassis_mgmt));
  EXPECT_EQ(number(LldpKey::kManagementAddress), number(lldpctl_k_mgmt_ip));
  EXPECT_EQ(number(LldpError::kWouldBlock), number(LLDPCTL_ERR_WOULDBLOCK));
  EXPECT_EQ(number(LldpError::kEndOfFile), number(LLDPCTL_ERR_EOF));
  EXPECT_EQ(number(LldpError::kCallbackFailure), number(LLDPCTL_ERR_CALLBACK_FAILURE));
}

}  // namespace
}  // namespace weft::lldp
