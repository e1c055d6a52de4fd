// SPDX-License-Identifier: Apache-2.0
#include "api/client/owners.hpp"

#include <algorithm>

#include "weft/v1/errors.pb.h"

namespace weft::api {

std::vector<std::string> owners_in(const std::string& details) {
  constexpr int kMostAddresses = 16;
  v1::ErrorStatus status;
  v1::Owner owner;
  if (!status.ParseFromString(details) || status.details_size() != 1 || !status.details(0).UnpackTo(&owner)) return {};
  const int count = std::min(owner.addresses_size(), kMostAddresses);
  return {owner.addresses().begin(), owner.addresses().begin() + count};
}

}  // namespace weft::api
