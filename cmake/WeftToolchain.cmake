# SPDX-License-Identifier: Apache-2.0
# One place for the language level, the warnings and the sanitizers. Every target links weft_options.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

set(WEFT_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, e.g. address,undefined or thread")

add_library(weft_options INTERFACE)
target_compile_options(weft_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
  -Werror -fno-omit-frame-pointer)
# Boost.Asio's coroutines make g++ 12 report false positives in headers that are not ours.
target_compile_definitions(weft_options INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ERROR_CODE_HEADER_ONLY)
target_link_libraries(weft_options INTERFACE Threads::Threads)
# For all alike: what pkg-config gives for gRPC has it, and a precompiled header is only for those with the same options.
target_compile_options(weft_options INTERFACE -pthread)
# Lines of a stack trace are all that is wanted of debug information; more of it, and -O1 under the address sanitizer, double
# the time of a build.
if(WEFT_SANITIZE)
  target_compile_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all -g1)
  target_link_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE})
endif()
# g++ frees the memory of templates and trees as it goes, which takes it a tenth of its time at this size. Without that a unity source
# takes 1.5 GB instead of 1.25 (GCC manual, "Optimize Options", ggc-min-heapsize, in kB).
if((WEFT_SANITIZE OR WEFT_BENCH) AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("SHELL:--param ggc-min-heapsize=4000000")
endif()
# ThreadSanitizer does not know fences, and g++ refuses them under it; what Asio's order is ordered by mutexes as well.
if(WEFT_SANITIZE STREQUAL "thread")
  target_compile_definitions(weft_options INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()
# A check at each access through a pointer costs a quarter of the build and most of a program's size. The address sanitizer sees a
# null pointer, an object that has gone and an access past its end; the decoders have these checks, alignment too, in the fuzz build.
if(WEFT_SANITIZE MATCHES "undefined")
  target_compile_options(weft_options INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
endif()
if(WEFT_FUZZ)
  target_compile_options(weft_options INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -g1)
  target_link_options(weft_options INTERFACE -fsanitize=address,undefined)
endif()

# Generated code (protobuf) gets the language level and the sanitizers, not the warnings.
add_library(weft_options_generated INTERFACE)
target_compile_options(weft_options_generated INTERFACE -w)
# ThreadSanitizer must see every access. The others need not look into what protoc wrote: it takes a fifth of their build.
if(WEFT_SANITIZE STREQUAL "thread")
  target_compile_options(weft_options_generated INTERFACE -fsanitize=thread -g1)
endif()

find_program(WEFT_CCACHE ccache)
if(WEFT_CCACHE)
  # Without this ccache keeps nothing that is compiled with precompiled headers (its manual, "Precompiled headers").
  # And Clang takes a precompiled header from the cache only when it does not ask for its time (the same place).
  add_compile_options("$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  set(launcher "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${WEFT_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
find_program(WEFT_MOLD mold)
if(WEFT_MOLD AND NOT WEFT_FUZZ)
  add_link_options(-fuse-ld=mold)
endif()
