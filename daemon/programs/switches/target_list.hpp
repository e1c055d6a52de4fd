// SPDX-License-Identifier: Apache-2.0
#pragma once
// The switches to read, as people list them: one line each, "NAME HOST:PORT", and what is special about it.
//
//   leaf01   192.0.2.11:9339
//   spine01  spine01.mgmt.example:57400  credentials=spines login=basic
//
// credentials=NAME    files of that name in the folder of credentials; without it "default"
// login=metadata      username and password as gRPC metadata: SONiC, EOS, SR Linux; without it this
// login=basic         the same by HTTP Basic: Cumulus Linux, NVOS
// certificate=NAME    the name in its certificate, where that is not HOST
// tls=off             plain text: on this machine only
// set=off             none of its ports is ever set, whatever remedy.gnmi_port says
// set=NAME            they are set as a row of collectors/gnmi/port_setting.hpp says: openconfig, srlinux, sonic;
// without
//                     it the row of the models that the switch tells
//
// Empty lines, and what follows a #, are left out.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/gnmi/port_setting.hpp"
#include "fabric/result.hpp"

namespace weft::switches {

/// How a target is told who we are.
enum class Login : unsigned char { kMetadata, kBasic };

/// One line.
struct TargetLine {
  std::string name;     ///< of the switch: 1 to 64 letters, digits, -, _ and .
  std::string address;  ///< HOST:PORT
  std::string credentials = "default";
  Login login = Login::kMetadata;
  std::string certificate_name{};  ///< empty: HOST
  bool plain_text = false;
  std::string set{};  ///< name of a row, "off", or empty: by its models
  bool operator==(const TargetLine&) const = default;
};

/// How ports of a target with these models (Capabilities) are set; null: none is ever set.
const gnmi::PortSetting* port_setting_of(const TargetLine& line, std::span<const std::string> models);

/// All targets of `text`; at most `most`. kInvalidArgument names the line: "line 3: …". Names differ.
Result<std::vector<TargetLine>> parse_targets(std::string_view text, std::size_t most);

/// Longest file of targets, bytes.
inline constexpr std::size_t kMostTargetBytes = 1 << 20;

/// Those of `lines`, the configuration's own, and of `file`; an empty path is none. As parse_targets(), with where it
/// is written, and as runtime::read_regular().
Result<std::vector<TargetLine>> read_targets(const std::string& lines, const std::filesystem::path& file,
                                             std::size_t most);

}  // namespace weft::switches
