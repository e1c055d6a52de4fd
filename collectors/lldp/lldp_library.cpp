// SPDX-License-Identifier: Apache-2.0
#include "collectors/lldp/lldp_library.hpp"

#include <dlfcn.h>

#include <optional>

namespace weft::lldp {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

std::optional<LldpLibrary> load_once() {
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  LldpLibrary found;
  const bool whole =
      find(library, "lldpctl_new_name", found.new_name) && find(library, "lldpctl_release", found.release) &&
      find(library, "lldpctl_get_default_transport", found.get_default_transport) &&
      find(library, "lldpctl_get_interfaces", found.get_interfaces) &&
      find(library, "lldpctl_get_port", found.get_port) &&
      find(library, "lldpctl_get_local_chassis", found.get_local_chassis) &&
      find(library, "lldpctl_last_error", found.last_error) && find(library, "lldpctl_strerror", found.strerror) &&
      find(library, "lldpctl_log_callback", found.log_callback) && find(library, "lldpctl_atom_get", found.atom_get) &&
      find(library, "lldpctl_atom_get_str", found.atom_get_str) &&
      find(library, "lldpctl_atom_get_int", found.atom_get_int) &&
      find(library, "lldpctl_atom_dec_ref", found.atom_dec_ref) &&
      find(library, "lldpctl_atom_iter", found.atom_iter) &&
      find(library, "lldpctl_atom_iter_next", found.atom_iter_next) &&
      find(library, "lldpctl_atom_iter_value", found.atom_iter_value);
  if (!whole) return std::nullopt;
  // What it has to say goes to standard error otherwise, once for every attempt.
  found.log_callback([](int, const char*) {});
  return found;
}

}  // namespace

const LldpLibrary* LldpLibrary::load() {
  static const std::optional<LldpLibrary> library = load_once();
  return library ? &*library : nullptr;
}

}  // namespace weft::lldp
