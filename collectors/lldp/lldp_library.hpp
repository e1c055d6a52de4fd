// SPDX-License-Identifier: Apache-2.0
#pragma once
// lldpd's own library, loaded when it is there: it comes with the daemon, and most hosts have neither.

#include <string>
#include <utility>

#include "collectors/lldp/lldpctl_interface.hpp"

namespace weft::lldp {

/// Its functions.
struct LldpLibrary : LldpFunctions {
  /// Null: it is not installed, or lacks a function. It stays loaded for the life of the process.
  static const LldpLibrary* load();
};

/// A thing of the library, given back with its last owner.
class Atom {
 public:
  /// None.
  Atom() = default;
  /// Takes `atom`, which may be null, over.
  Atom(const LldpLibrary& library, LldpAtom* atom) : lldpctl_(&library), atom_(atom) {}
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
  LldpAtom* get() const { return atom_; }
  /// Empty where it has none.
  std::string text(LldpKey key) const {
    const char* const found = atom_ == nullptr ? nullptr : lldpctl_->atom_get_str(atom_, key);
    return found == nullptr ? std::string() : std::string(found);
  }
  /// -1 where it has none.
  long number(LldpKey key) const { return atom_ == nullptr ? -1 : lldpctl_->atom_get_int(atom_, key); }
  /// None where it has none.
  Atom part(LldpKey key) const { return {*lldpctl_, atom_ == nullptr ? nullptr : lldpctl_->atom_get(atom_, key)}; }
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
  LldpAtom* atom_ = nullptr;
};

}  // namespace weft::lldp
