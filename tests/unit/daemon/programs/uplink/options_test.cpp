// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/uplink/options.hpp"

#include <gtest/gtest.h>

#include "daemon/platform/runtime/child_options.hpp"

namespace weft::uplink {
namespace {

Options some_options() {
  Options options;
  options.spool = "/var/lib/weft/spool";
  options.analyzers = "weft1:9641,weft2:9641";
  options.node_name = "gpu-01";
  options.token_file = "/etc/token";
  options.enroll_token_file = "/run/credentials/enroll.token";
  options.certificate_folder = "/var/lib/weft/certificate";
  return options;
}

TEST(UplinkOptions, AreUnpackedAsPacked) {
  const auto bytes = runtime::pack_options(some_options());
  const auto unpacked = runtime::unpack_options<Options>(bytes);
  ASSERT_TRUE(unpacked) << unpacked.error().message;
  EXPECT_EQ(runtime::pack_options(*unpacked), bytes);
  EXPECT_EQ(unpacked->analyzers, "weft1:9641,weft2:9641");
  EXPECT_EQ(unpacked->token_file, "/etc/token");
  EXPECT_EQ(unpacked->enroll_token_file, "/run/credentials/enroll.token");
  EXPECT_EQ(unpacked->certificate_folder, "/var/lib/weft/certificate");
}

TEST(UplinkOptions, MissingAndOutOfBoundsValuesAreNamed) {
  EXPECT_TRUE(some_options().check());
  EXPECT_FALSE(Options().check());
  Options options = some_options();
  options.interval = {};
  ASSERT_FALSE(options.check());
  EXPECT_EQ(options.check().error().message, "interval in milliseconds is 0; it must be 1 to 3600000");
}

TEST(UplinkOptions, ATokenGoesWhereTheUnitsCredentialComesFrom) {
  EXPECT_EQ(place_of_token("/etc/t/enroll.token", nullptr), "/etc/t/enroll.token");
  EXPECT_EQ(place_of_token("/etc/t/enroll.token", "/run/credentials/u"), "/etc/t/enroll.token");
  EXPECT_EQ(place_of_token("/run/credentials/u/collector_enroll.token", "/run/credentials/u"),
            "/etc/weft/collector/enroll.token, then restart weft-collector");
  EXPECT_EQ(place_of_token("/run/credentials/u/mine", "/run/credentials/u"),
            "the file that the unit's LoadCredential= names for mine, then restart weft-collector");
}

TEST(UplinkOptions, AConnectionInClearTextThatWasEndedNamesTheKeysForTls) {
  const std::string closed =
      "failed to connect to all addresses; last error: UNAVAILABLE: ipv4:127.0.0.1:1: Socket closed";
  EXPECT_EQ(with_tls_hint(closed, {}),
            closed + " (if weftd there has TLS, set analyzer.enroll_token_file, or analyzer.authorities)");
  EXPECT_EQ(with_tls_hint(closed, some_options()), closed) << "it has TLS by its token";
  EXPECT_EQ(with_tls_hint("Connection refused", {}), "Connection refused");
}

}  // namespace
}  // namespace weft::uplink
