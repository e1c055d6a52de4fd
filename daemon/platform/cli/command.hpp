// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program's command line as values: what man pages, completion and suggestions are made of.

#include <string>
#include <vector>

namespace weft::usage {

/// A flag, an option with a value, or an argument without a name.
struct Option {
  std::vector<std::string> names;  ///< "--fabric", "-f"; of an argument without a name only what help calls it, "NODE"
  std::string value;               ///< "FILE", "duration": what its value is called; empty: it takes none
  std::string help;                ///< one paragraph
  std::string standard;            ///< the value without it; empty: none
  std::string variable;            ///< the environment variable that gives its value; empty: none
  std::string group;               ///< the heading that it stands below; "" for the first
  std::vector<std::string> choices;  ///< the only values allowed; empty: any
  bool required = false;
  bool many = false;  ///< it may be given more than once
};

/// A program, or one of its verbs.
struct Command {
  std::string name;
  std::string help;               ///< one paragraph
  std::string footer;             ///< what stands below everything: examples; lines as they are
  std::vector<Option> options;    ///< that begin with a dash, in the order of the help
  std::vector<Option> arguments;  ///< without a name, in their order
  std::vector<Command> verbs;     ///< in the order of the help
};

}  // namespace weft::usage
