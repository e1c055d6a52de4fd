// SPDX-License-Identifier: Apache-2.0
#pragma once
// lldpd's own library, loaded when it is there: it comes with the daemon, and most hosts have neither.

#include <lldpctl.h>

#include <string>
#include <utility>

namespace weft::lldp {

/// The functions of liblldpctl.so.4 that we use, under their names without "lldpctl_".
struct LldpLibrary {
  decltype(&lldpctl_new_name) new_name = nullptr;
  decltype(&lldpctl_release) release = nullptr;
  decltype(&lldpctl_get_default_transport) get_default_transport = nullptr;
  decltype(&lldpctl_get_interfaces) get_interfaces = nullptr;
  decltype(&lldpctl_get_port) get_port = nullptr;
  decltype(&lldpctl_get_local_chassis) get_local_chassis = nullptr;
  decltype(&lldpctl_last_error) last_error = nullptr;
  decltype(&lldpctl_strerror) strerror = nullptr;
  decltype(&lldpctl_log_callback) log_callback = nullptr;
  decltype(&lldpctl_atom_get) atom_get = nullptr;
  decltype(&lldpctl_atom_get_str) atom_get_str = nullptr;
  decltype(&lldpctl_atom_get_int) atom_get_int = nullptr;
  decltype(&lldpctl_atom_dec_ref) atom_dec_ref = nullptr;
  decltype(&lldpctl_atom_iter) atom_iter = nullptr;
  decltype(&lldpctl_atom_iter_next) atom_iter_next = nullptr;
  decltype(&lldpctl_atom_iter_value) atom_iter_value = nullptr;

  /// Null: it is not installed, or lacks a function. It stays loaded for the life of the process.
  static const LldpLibrary* load();
};

/// A thing of the library, given back with its last owner.
class Atom {
 public:
  /// None.
  Atom() = default;
  /// Takes `atom`, which may be null, over.
  Atom(const LldpLibrary& library, lldpctl_atom_t* atom) : lldpctl_(&library), atom_(atom) {}
  Atom(Atom&& other) noexcept : lldpctl_(other.lldpctl_), atom_(std::exchange(other.atom_, nullptr)) {}
  Atom& operator=(Atom&& other) noexcept {
    std::swap(lldpctl_, other.lldpctl_);
    std::swap(atom_, other.atom_);
    return *this;
  }
  Atom(const Atom&) = delete;
  Atom& operator=(const Atom&) = delete;
  ~Atom() {
    if (atom_ != nullptr) lldpctl_->atom_dec_ref(atom_);
  }

  /// There is one.
  explicit operator bool() const { return atom_ != nullptr; }
  /// It stays ours.
  lldpctl_atom_t* get() const { return atom_; }
  /// Empty where it has none.
  std::string text(lldpctl_key_t key) const {
    const char* const found = atom_ == nullptr ? nullptr : lldpctl_->atom_get_str(atom_, key);
    return found == nullptr ? std::string() : std::string(found);
  }
  /// -1 where it has none.
  long number(lldpctl_key_t key) const { return atom_ == nullptr ? -1 : lldpctl_->atom_get_int(atom_, key); }
  /// None where it has none.
  Atom part(lldpctl_key_t key) const {
    return {*lldpctl_, atom_ == nullptr ? nullptr : lldpctl_->atom_get(atom_, key)};
  }
  /// Calls `visit` with each element, which it may keep, until it says false.
  template <typename Visit>
  void each(Visit visit) const {
    if (atom_ == nullptr) return;
    for (auto* at = lldpctl_->atom_iter(atom_); at != nullptr; at = lldpctl_->atom_iter_next(atom_, at)) {
      Atom element(*lldpctl_, lldpctl_->atom_iter_value(atom_, at));
      if (!element || !visit(std::move(element))) return;
    }
  }

 private:
  const LldpLibrary* lldpctl_ = nullptr;
  lldpctl_atom_t* atom_ = nullptr;
};

}  // namespace weft::lldp
