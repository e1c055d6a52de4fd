// SPDX-License-Identifier: Apache-2.0
// How programs that are built with the address sanitizer behave where nobody sets ASAN_OPTIONS.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_suppressions();

extern "C" const char* __asan_default_options() {
  // The simulated adapter is a preloaded library, and so comes before the sanitizer's. A daemon that is killed leaves
  // what it holds: leaks are looked for in the unit tests.
  return "verify_asan_link_order=0:detect_leaks=0:quarantine_size_mb=64";
}

extern "C" const char* __asan_default_suppressions() {
  // The preloaded library copies 320 bytes of the 288 that it holds of each datagram.
  return "interceptor_via_lib:libumad2sim\n";
}
