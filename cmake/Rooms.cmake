# kheya_room(NAME DEPS room... LIBS target...): the library kheya_NAME from this folder's sources,
# and the test NAME_test from its *_test.cpp files. Sub-folders belong to the room.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(kheya_flags INTERFACE)
target_compile_options(kheya_flags INTERFACE -Wall -Wextra -Werror -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of overlaps that cannot be in std::string (GCC bug 105651).
  target_compile_options(kheya_flags INTERFACE -Wno-restrict)
endif()
if(KHEYA_SANITIZE)
  target_compile_options(kheya_flags INTERFACE -fsanitize=${KHEYA_SANITIZE}
                         -fno-sanitize-recover=all -O1 -g1)  # enough for reports, faster to build
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumented code makes this warning see what is not there.
    target_compile_options(kheya_flags INTERFACE -Wno-maybe-uninitialized)
    if(KHEYA_SANITIZE STREQUAL thread)  # Asio's fences; mutexes order what they stand beside
      target_compile_options(kheya_flags INTERFACE -Wno-tsan)
    endif()
  endif()
  target_link_options(kheya_flags INTERFACE -fsanitize=${KHEYA_SANITIZE})
endif()

if(KHEYA_FUZZ)
  # Clang 14 cannot build coroutines with the check of function types.
  target_compile_options(kheya_flags INTERFACE -fsanitize=fuzzer-no-link -fno-sanitize=function)
endif()

# kheya_cover(NAME SOURCE...): counters of lines and branches, for tools/coverage. Without exceptions a
# call is not a branch of its own.
function(kheya_cover name)
  if(NOT name IN_LIST KHEYA_COVERAGE)
    return()
  endif()
  list(FILTER ARGN EXCLUDE REGEX "/testing/")
  set_source_files_properties(${ARGN} PROPERTIES
                              COMPILE_OPTIONS "--coverage;-O0;-fno-exceptions")
  target_link_options(kheya_${name} INTERFACE --coverage)
endfunction()

# kheya_add_room(NAME): the folder src/NAME, once it holds sources.
macro(kheya_add_room name)
  file(GLOB_RECURSE room_sources CONFIGURE_DEPENDS src/${name}/*.cpp)
  if(room_sources)
    add_subdirectory(src/${name})
  endif()
endmacro()

function(kheya_room name)
  cmake_parse_arguments(ROOM "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp *.h)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|/main\\.cpp$")
  foreach(pattern ${KHEYA_EXCLUDE_${name}})
    list(FILTER sources EXCLUDE REGEX "${pattern}")
    list(FILTER tests EXCLUDE REGEX "${pattern}")
  endforeach()
  add_library(kheya_${name} STATIC ${sources})
  target_include_directories(kheya_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src
                             ${PROJECT_SOURCE_DIR}/include)
  list(TRANSFORM ROOM_DEPS PREPEND kheya_)
  foreach(dep ${ROOM_DEPS})  # rooms without sources yet are not there
    if(NOT TARGET ${dep})
      list(REMOVE_ITEM ROOM_DEPS ${dep})
    endif()
  endforeach()
  target_link_libraries(kheya_${name} PUBLIC ${ROOM_DEPS} ${ROOM_LIBS} PRIVATE kheya_flags)
  kheya_cover(${name} ${sources})
  if(KHEYA_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE kheya_${name} kheya_flags GTest::gmock
                          GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE
                               KHEYA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    set_source_files_properties(${tests} PROPERTIES COMPILE_OPTIONS -O1)  # a quarter less to build
    add_test(NAME ${name} COMMAND ${name}_test)
  endif()
endfunction()
