// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/load.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weft::fuzz::demand;
  const std::string_view text = weft::fuzz::text_of(data, size);
  const weft::config::LoadOutcome outcome = weft::config::load_text(text, "fuzz.toml");
  for (const weft::config::ConfigError& error : outcome.errors) {
    demand(error.file == "fuzz.toml", "an error names the file");
    demand(!error.message.empty(), "an error says what is wrong");
    demand(weft::config::to_string(error).starts_with("fuzz.toml:"), "an error can be found by an editor");
  }
  return 0;
}
