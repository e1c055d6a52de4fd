// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/schema.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "daemon/config/load.hpp"
#include "daemon/config/reference.hpp"

namespace weft::config {
namespace {

std::string read(const std::string& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

template <typename Config>
class SchemaOf : public testing::Test {};
using Configs = testing::Types<WeftdConfig, CollectorConfig>;
TYPED_TEST_SUITE(SchemaOf, Configs);

TYPED_TEST(SchemaOf, EveryDefaultIsAllowedAndComesBackAsItWas) {
  for (const auto& key : schema<TypeParam>()) {
    TypeParam config;
    EXPECT_EQ(set(key, config, get(key, TypeParam{})), std::nullopt) << key.name;
    EXPECT_EQ(get(key, config), get(key, TypeParam{})) << key.name;
  }
  EXPECT_TRUE(contradictions(TypeParam{}).empty());
}

TYPED_TEST(SchemaOf, NamesFlagsAndFieldsAreEachTheirOwn) {
  std::set<std::string> seen;
  for (const KeyDescription& key : describe_keys<TypeParam>()) {
    EXPECT_TRUE(seen.insert(key.name).second) << key.name;
    EXPECT_FALSE(key.help.empty()) << key.name;
    for (const std::string& flag : key.flags) EXPECT_TRUE(seen.insert(flag).second) << flag;
  }
  TypeParam config;
  std::set<void*> places;
  for (const auto& key : schema<TypeParam>())
    EXPECT_TRUE(
        places.insert(std::visit([](auto* place) { return static_cast<void*>(place); }, key.field(config))).second)
        << key.name;
}

/// Every byte of `whole` that is no padding belongs to some key: a threshold without one is found here.
template <typename T>
void expect_all_bound(T WeftdConfig::*part, const char* what) {
  WeftdConfig config;
  const auto* begin = reinterpret_cast<const char*>(&(config.*part));
  std::vector<std::pair<std::ptrdiff_t, std::size_t>> fields;
  for (const Key& key : schema())
    std::visit(
        [&](auto* place) {
          const std::ptrdiff_t offset = reinterpret_cast<const char*>(place) - begin;
          if (offset >= 0 && offset < static_cast<std::ptrdiff_t>(sizeof(T)))
            fields.emplace_back(offset, sizeof *place);
        },
        key.field(config));
  std::sort(fields.begin(), fields.end());
  std::ptrdiff_t next = 0;
  for (const auto& [offset, size] : fields) {
    const auto aligned = (next + static_cast<std::ptrdiff_t>(size) - 1) / static_cast<std::ptrdiff_t>(size) *
                         static_cast<std::ptrdiff_t>(size);
    EXPECT_EQ(offset, aligned) << what << " has a field without a key before offset " << offset;
    next = offset + static_cast<std::ptrdiff_t>(size);
  }
  EXPECT_GE(next + 8, static_cast<std::ptrdiff_t>(sizeof(T))) << what << " has a field without a key at its end";
}

TEST(Schema, BindsEveryThreshold) {
  expect_all_bound(&WeftdConfig::analyzer, "Thresholds");
  expect_all_bound(&WeftdConfig::incidents, "IncidentPolicy");
}

/// Names of the two documents of a program.
template <typename Config>
struct Documents;
template <>
struct Documents<WeftdConfig> {
  static constexpr const char* kReference = "reference.md";
};
template <>
struct Documents<CollectorConfig> {
  static constexpr const char* kReference = "collector-reference.md";
};

template <typename Config>
class ReferenceOf : public testing::Test {};
TYPED_TEST_SUITE(ReferenceOf, Configs);

TYPED_TEST(ReferenceOf, TheDocumentInDeployIsThisOne) {
  const std::string name = Documents<TypeParam>::kReference;
  EXPECT_EQ(read(WEFT_SOURCE_DIR "/deploy/config/" + name), reference_document<TypeParam>())
      << "write it anew: " << TypeParam::kNames.program << " --config-reference > deploy/config/" << name;
}

TYPED_TEST(ReferenceOf, TheExampleInDeployIsThisOneAndLoads) {
  const std::string name(TypeParam::kNames.file);
  const std::string example = read(WEFT_SOURCE_DIR "/deploy/config/" + name);
  EXPECT_EQ(example, example_config<TypeParam>())
      << "write it anew: " << TypeParam::kNames.program << " --config-example > deploy/config/" << name;
  EXPECT_EQ(print(load_text<TypeParam>(example, name).errors), "");
  // And with every key uncommented, too.
  std::string uncommented = example;
  for (std::size_t at = 0; (at = uncommented.find("\n#", at)) != std::string::npos; ++at)
    if (uncommented[at + 2] != ' ') uncommented.erase(at + 1, 1);
  EXPECT_EQ(print(load_text<TypeParam>(uncommented, name).errors), "");
  EXPECT_NE(uncommented.find("\nlog_level = \"info\"\n"), std::string::npos);
}

}  // namespace
}  // namespace weft::config
