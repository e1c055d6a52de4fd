// SPDX-License-Identifier: Apache-2.0
// How programs that are built with the address sanitizer behave where nobody sets ASAN_OPTIONS, and where reports of
// undefined behaviour go.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_suppressions();
extern "C" void __ubsan_on_report();
// Weak: there is none under the address sanitizer alone.
extern "C" __attribute__((weak)) void __ubsan_get_current_report_data(const char** kind, const char** message,
                                                                      const char** file, unsigned* line,
                                                                      unsigned* column, char** address);

extern "C" const char* __asan_default_options() {
  // The simulated adapter is a preloaded library, and so comes before the sanitizer's. A daemon that is killed leaves
  // what it holds: leaks are looked for in the unit tests.
  return "verify_asan_link_order=0:detect_leaks=0:quarantine_size_mb=64";
}

extern "C" const char* __asan_default_suppressions() {
  // The preloaded library copies 320 bytes of the 288 that it holds of each datagram.
  return "interceptor_via_lib:libumad2sim\n";
}

// Called by the sanitizer for each report. Beside the address sanitizer g++ 12 writes these to standard error whatever
// log_path says, and nobody looks at a daemon's: here the line goes to $WEFT_UBSAN_REPORTS.<pid>, where tests/runner.py
// finds it.
extern "C" void __ubsan_on_report() {
  const char* reports = std::getenv("WEFT_UBSAN_REPORTS");
  if (reports == nullptr || __ubsan_get_current_report_data == nullptr) {
    return;
  }
  const char* kind = nullptr;
  const char* message = nullptr;
  const char* file = nullptr;
  unsigned line = 0;
  unsigned column = 0;
  char* address = nullptr;
  __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &address);
  char path[4096];
  std::snprintf(path, sizeof(path), "%s.%d", reports, static_cast<int>(getpid()));
  const int stream = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0666);
  if (stream >= 0) {
    dprintf(stream, "%s:%u:%u: runtime error: %s\n", file, line, column, message);
    close(stream);
  }
}
