# SPDX-License-Identifier: Apache-2.0
# Debian's own Python sees the packages python3-grpcio and python3-protobuf; any other will do without them.
find_program(WEFT_PYTHON3 NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT WEFT_PYTHON3)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(WEFT_PYTHON3 "${Python3_EXECUTABLE}" CACHE FILEPATH "Python for the tests" FORCE)
endif()

# weft_python_test(test_x.py LABELS collector [PROGRAMS weftd ...] [TIMEOUT seconds] [ALONE]): a file of tests that run our programs,
# one ctest entry, called after its folder. PROGRAMS are built with the target tests_<label>. ALONE where a second test beside it
# would disturb.
function(weft_python_test file)
  cmake_parse_arguments(PARSE_ARGV 1 TEST "ALONE" "TIMEOUT" "LABELS;PROGRAMS")
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  get_filename_component(stem ${file} NAME_WE)
  string(REGEX REPLACE "^test_" "${folder}_" name ${stem})
  add_test(NAME ${name} COMMAND "${WEFT_PYTHON3}" "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 900)  # for what hangs: a busy machine fails nothing
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT} RUN_SERIAL ${TEST_ALONE}
    ENVIRONMENT "WEFT_BUILD=${CMAKE_BINARY_DIR};WEFT_TEST_NAME=${name};PYTHONDONTWRITEBYTECODE=1")
  foreach(label IN LISTS TEST_LABELS)
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    foreach(program IN LISTS TEST_PROGRAMS)
      add_dependencies(tests_${label} ${program})
    endforeach()
  endforeach()
endfunction()
