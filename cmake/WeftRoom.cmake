# SPDX-License-Identifier: Apache-2.0
# weft_room(fabric SOURCES a.cpp LINKS tl::expected PRIVATE_LINKS spdlog::spdlog)
#   makes the static library weft_<name> from the folder it is called in.
#
# Each room has an include root of its own that holds nothing but a link to the room's folder, so that
#   #include "collectors/infiniband/sweep.hpp"
# compiles only in a target that links weft_collectors_infiniband.
function(weft_include_root target)
  file(RELATIVE_PATH place "${CMAKE_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REPLACE "/" "_" name "${place}")
  set(root "${CMAKE_BINARY_DIR}/include-roots/${name}")
  get_filename_component(parent "${root}/${place}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${root}/${place}" SYMBOLIC)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_include_directories(${target} INTERFACE "${root}")
  else()
    target_include_directories(${target} PUBLIC "${root}")
  endif()
endfunction()

# weft_precompiled(target rooms): where WEFT_UNITY is on, the standard library and Asio (and GoogleTest, for `tests`) are parsed once in
# a build, not in each target. `dev` does without: there a file that forgets an include does not compile. So do fabric and analyzer
# everywhere: they must not know Asio, threads or files.
function(weft_precompiled target headers)
  if(NOT WEFT_UNITY OR target MATCHES "^weft_(fabric|analyzer)")
    return()
  endif()
  if(NOT TARGET weft_precompiled_${headers})
    file(WRITE "${CMAKE_BINARY_DIR}/precompiled/${headers}.cpp" "")
    add_library(weft_precompiled_${headers} STATIC "${CMAKE_BINARY_DIR}/precompiled/${headers}.cpp")
    target_link_libraries(weft_precompiled_${headers} PRIVATE weft_options $<$<STREQUAL:${headers},tests>:GTest::gmock>)
    target_precompile_headers(weft_precompiled_${headers} PRIVATE "${CMAKE_SOURCE_DIR}/cmake/precompiled_${headers}.hpp")
  endif()
  target_precompile_headers(${target} REUSE_FROM weft_precompiled_${headers})
endfunction()

# weft_unity(target 8): where WEFT_UNITY is on, the target's sources are compiled in batches of so many, 0 for one batch of all. Headers
# are then read once a batch: a clean build takes a third of the time, a build after one edit somewhat more. So names in anonymous
# namespaces are unique within a folder.
function(weft_unity target batch)
  if(WEFT_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
    # g++ takes what a batch includes for headers, in which a type of an anonymous namespace would be a mistake.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

function(weft_room)
  cmake_parse_arguments(PARSE_ARGV 0 ROOM "" "" "SOURCES;LINKS;PRIVATE_LINKS")
  file(RELATIVE_PATH place "${CMAKE_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REPLACE "/" "_" name "${place}")
  set(target "weft_${name}")
  if(ROOM_SOURCES)
    add_library(${target} STATIC ${ROOM_SOURCES})
    target_link_libraries(${target} PUBLIC ${ROOM_LINKS} PRIVATE weft_options ${ROOM_PRIVATE_LINKS})
    weft_unity(${target} 0)
    weft_precompiled(${target} rooms)
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${ROOM_LINKS})
  endif()
  weft_include_root(${target})
endfunction()

# weft_sanitizer_options(program): for what runs on the simulated adapter, or is killed, under the address sanitizer.
function(weft_sanitizer_options program)
  if(WEFT_SANITIZE MATCHES "address")
    target_sources(${program} PRIVATE "${CMAKE_SOURCE_DIR}/cmake/sanitizer_options.cpp")
  endif()
endfunction()

# weft_program(weftd SOURCES main.cpp LINKS ... [MANUAL 8]): an executable in <build>/bin. What was not built is not installed.
# MANUAL: the section of its manual page, which it prints itself when asked with --manual.
function(weft_program program)
  cmake_parse_arguments(PARSE_ARGV 1 PROGRAM "" "MANUAL" "SOURCES;LINKS")
  add_executable(${program} ${PROGRAM_SOURCES})
  target_link_libraries(${program} PRIVATE weft_options ${PROGRAM_LINKS})
  weft_unity(${program} 0)
  weft_precompiled(${program} rooms)
  weft_sanitizer_options(${program})
  weft_include_root(${program})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
  install(TARGETS ${program} RUNTIME DESTINATION bin OPTIONAL)
  if(PROGRAM_MANUAL)
    weft_install_output(${program} share/man/man${PROGRAM_MANUAL} ${program}.${PROGRAM_MANUAL} --manual)
  endif()
endfunction()

# weft_install_output(weftctl share/x name completion bash): what `weftctl completion bash` prints is installed as <prefix>/share/x/name.
# It is asked at that time, so that it is of the program beside it.
function(weft_install_output program folder file)
  install(CODE "
    if(EXISTS \"${CMAKE_BINARY_DIR}/bin/${program}\")
      set(place \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}\")
      file(MAKE_DIRECTORY \"\${place}\")
      execute_process(COMMAND \"${CMAKE_BINARY_DIR}/bin/${program}\" ${ARGN} OUTPUT_FILE \"\${place}/${file}\" COMMAND_ERROR_IS_FATAL ANY)
      message(STATUS \"Installing: \${place}/${file}\")
    endif()")
endfunction()

# weft_test(NAME unit_fabric LABELS unit SOURCES a_test.cpp LINKS weft_fabric): a GoogleTest program, one ctest entry.
# The target tests_<label> builds all tests of that label, and nothing they do not need.
function(weft_test)
  cmake_parse_arguments(PARSE_ARGV 0 TEST "" "NAME;TIMEOUT" "LABELS;SOURCES;LINKS")
  find_package(GTest REQUIRED)
  add_executable(${TEST_NAME} ${TEST_SOURCES})
  target_link_libraries(${TEST_NAME} PRIVATE weft_options ${TEST_LINKS} GTest::gmock GTest::gtest_main)
  weft_unity(${TEST_NAME} 16)  # not one batch of all: a test is built and run within seconds of an edit
  weft_precompiled(${TEST_NAME} tests)
  set_target_properties(${TEST_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_test(NAME ${TEST_NAME} COMMAND ${TEST_NAME})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 600)  # for what hangs: a busy machine fails nothing
  endif()
  set_tests_properties(${TEST_NAME} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT})
  foreach(label IN LISTS TEST_LABELS)
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    add_dependencies(tests_${label} ${TEST_NAME})
  endforeach()
endfunction()
