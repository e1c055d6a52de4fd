// SPDX-License-Identifier: Apache-2.0
// Which host a person means by a name or a GUID.

#include "analyzer/remedy/find_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

/// A fabric whose adapters get names, and people who ask for hosts in it.
struct Named : Book {
  void name(const std::string& adapter, const std::string& name, bool is_given = false) {
    Node& node = fabric.node(fabric.find(adapter));
    node.name = name;
    node.name_is_given = is_given;
  }
  std::string guid(const std::string& adapter) const { return to_string(fabric.nodes()[fabric.find(adapter)].guid); }
  /// The host's name, or the error's code and message.
  std::string find(const std::string& text) {
    const auto found = book->find_host(text, look());
    return found ? found->host : std::string(to_string(found.error().code)) + ": " + found.error().message;
  }
};

TEST(FindHost, GoesByShortAndFullNamesInAnyCase) {
  Named b;
  b.collector("login-1.example.org", {});
  EXPECT_EQ(b.find("HOST-0-0"), "host-0-0");
  EXPECT_EQ(b.find("host-0-0.example.org"), "host-0-0");
  EXPECT_EQ(b.find("login-1"), "login-1.example.org");
  EXPECT_EQ(b.find("host-9-9"), "not_found: no host named 'host-9-9'");
}

TEST(FindHost, OfSeveralHostsOneMustBeNamedInFull) {
  Named b;
  b.name("host-0-0 mlx5_0", "n1.alpha mlx5_0");
  b.name("host-1-0 mlx5_0", "n1.beta mlx5_0");
  EXPECT_EQ(b.find("n1"), "invalid_argument: 'n1' matches several hosts: n1.alpha, n1.beta");
  EXPECT_EQ(b.find("n1.BETA"), "n1.beta");
  b.name("host-2-0 mlx5_0", "n1 mlx5_0");
  EXPECT_EQ(b.find("n1"), "invalid_argument: 'n1' matches several hosts: n1.alpha, n1.beta");
  EXPECT_EQ(b.find("n1.gamma"), "not_found: no host named 'n1.gamma', but of the same short name: n1.alpha, n1.beta");
}

TEST(FindHost, AGuidMeansTheHostThatOthersSayItIsIn) {
  Named b;
  const std::string forger = b.guid("host-0-0 mlx5_0");
  b.name("host-0-0 mlx5_0", "host-1-0 mlx5_7");
  EXPECT_EQ(b.find(forger), "failed_precondition: adapter " + forger +
                                " calls itself host-1-0 mlx5_7, but neither a collector nor the node name map confirms "
                                "it: name the host itself");
  b.collector("host-0-0", {"host-1-0 mlx5_7"});
  EXPECT_EQ(b.find(forger), "host-0-0");
  EXPECT_EQ(b.find(forger.substr(2)), "host-0-0");
  b.collector("host-2-0", {"host-1-0 mlx5_7"});
  EXPECT_EQ(b.find(forger), "failed_precondition: the collectors of host-0-0 and host-2-0 both report adapter " +
                                forger + ": name the host itself");
  b.hosts.clear();
  b.name("host-1-0 mlx5_7", "host-1-0 mlx5_7", true);
  EXPECT_EQ(b.find(forger), "host-1-0") << "by the node name map";
  b.collector("host-3-0", {"host-1-0 mlx5_7"});
  EXPECT_EQ(b.find(forger), "failed_precondition: adapter " + forger +
                                " calls itself host-1-0 mlx5_7, but the collector of host-3-0 reports it as its own: "
                                "name the host itself");
}

TEST(FindHost, AnAdaptersNameMeansTheHostInItUnlessACollectorSaysOtherwise) {
  Named b;
  EXPECT_EQ(b.find("host-1-0 mlx5_0"), "host-1-0");
  const std::string forger = b.guid("host-0-0 mlx5_0");
  b.name("host-0-0 mlx5_0", "host-1-0 mlx5_7");
  b.collector("host-0-0", {"host-1-0 mlx5_7"});
  EXPECT_EQ(b.find("host-1-0 mlx5_7"), "failed_precondition: adapter " + forger +
                                           " calls itself host-1-0 mlx5_7, but the collector of host-0-0 reports it: "
                                           "name the host itself");
  b.name("host-1-0 mlx5_7", "host-1-0");
  EXPECT_EQ(b.find("host-1-0"), "host-1-0") << "a forger keeps nobody from naming the host";
}

TEST(FindHost, AForgedNameStopsNobodyWhoNamesAConfirmedHost) {
  for (const bool by_map : {false, true})
    for (const char* forged : {"host-1-0 mlx5_0", "HOST-1-0 mlx5_7", "host-1-0", "host-1-0.evil mlx5_0",
                               "host-1-0.evil", "host-1-0.evil.worse mlx5_0"})
      for (const bool has_collector : {false, true}) {
        SCOPED_TRACE(std::string(forged) + (by_map ? ", map" : ", collector") +
                     (has_collector ? ", contradicted" : ""));
        Named b;
        if (by_map)
          b.name("host-1-0 mlx5_0", "host-1-0 mlx5_0", true);
        else
          b.collector("host-1-0", {"host-1-0 mlx5_0"});
        if (has_collector) b.collector("host-0-0", {"host-0-0 mlx5_0"});
        const std::string victim = b.guid("host-1-0 mlx5_0");
        b.name("host-0-0 mlx5_0", forged);
        for (const std::string& text : {std::string("host-1-0"), std::string("Host-1-0"),
                                        std::string("host-1-0 mlx5_0"), std::string("host-1-0.example.org"), victim})
          EXPECT_EQ(b.find(text), "host-1-0") << text;
      }
}

TEST(FindHost, TheFullNameOfAConfirmedHostIsEnoughWhateverOthersClaim) {
  Named b;
  b.name("host-1-0 mlx5_0", "n1.alpha mlx5_0", true);
  b.name("host-0-0 mlx5_0", "n1 mlx5_0");
  b.name("host-2-0 mlx5_0", "n1.beta mlx5_0");
  EXPECT_EQ(b.find("n1.alpha"), "n1.alpha");
  EXPECT_EQ(b.find("n1"),
            "invalid_argument: 'n1' matches several hosts: n1.alpha, n1.beta; of these only n1.alpha is confirmed by a "
            "collector or the node name map: use that name");
  EXPECT_EQ(b.find("n1.beta"), "n1.beta") << "nobody says that it is none";
}

TEST(FindHost, WhatIsNoHostIsRefused) {
  Named b;
  EXPECT_EQ(b.find("Leaf-0"), "invalid_argument: 'Leaf-0' is a switch: only hosts can be drained");
  const std::string leaf = b.guid("leaf-0");
  EXPECT_EQ(b.find(leaf), "invalid_argument: '" + leaf + "' is a switch: only hosts can be drained");
  const std::string nameless = b.guid("host-0-0 mlx5_0");
  const std::string description = "MT4123 ConnectX6   Mellanox Technologies";
  b.name("host-0-0 mlx5_0", description);
  EXPECT_EQ(b.find(nameless), "failed_precondition: no collector reports adapter " + nameless +
                                  " and it has no host's name: name the host itself");
  EXPECT_EQ(b.find(description), "failed_precondition: adapter " + nameless + " calls itself " + description +
                                     ", which is no host's name: name the host itself");
  EXPECT_EQ(b.find("MT4123"), "not_found: no host named 'MT4123'");
}

}  // namespace
}  // namespace weft::analyzer
