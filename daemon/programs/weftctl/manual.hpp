// SPDX-License-Identifier: Apache-2.0
#pragma once
// What help and the manual page of weftctl say beside what the command line says of itself.

#include <string>
#include <string_view>

#include "daemon/platform/cli/man_page.hpp"

namespace weft::ctl {

/// Below the overview: where the rest is.
extern const char* const kOverviewFooter;
/// Below the program's whole help: examples, exit status, environment.
extern const char* const kFooter;

/// Examples for a verb's help, each line "  weftctl ...   what it does"; empty for a verb that has none.
std::string examples_of(std::string_view verb);

/// weftctl(1).
usage::ManPage manual(const std::string& version);

}  // namespace weft::ctl
