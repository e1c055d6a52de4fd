#include "daemon/weftd/remedy_setup.hpp"

namespace weft::daemon {

Result<RemedyDeskOptions> make_remedy_options(const config::WeftdConfig& config) {
  RemedyDeskOptions options;
  options.hands_off_file = config.state_dir / "hands-off";
  return options;
}

}  // namespace weft::daemon
