# The kinds of test. Each takes the folder of its name below tests/; a folder without sources is skipped with a message.
#
#   pf_test(NAME [DISCOVER] DEPENDS room...)   GoogleTest executable of all NAME/*.cpp; one ctest entry, or one per case
#   pf_online(NAME)                            GoogleTest of NAME/*_test.cpp and realize.cpp that runs NAME/player.cpp, built
#                                              by both compilers' wrappers; one ctest entry
#   pf_lit(NAME)                               lit suite of all NAME/**.test; one ctest entry
#   pf_programs(COMPILER)                      lit suite of all programs/**.c and .cpp, built by clang or gcc; one ctest
#                                              entry programs_COMPILER, label programs
#   pf_fuzz(NAME DEPENDS room...)              libFuzzer executable of fuzz/fuzz_NAME.cpp, seeds in fuzz/corpus/NAME;
#                                              one ctest entry of a short, fixed budget

include(GoogleTest)

set(PF_LLVM /usr/lib/llvm-19 CACHE PATH "Where LLVM's lit, FileCheck and not are")
set(PF_TEST_TIMEOUT 600)

function(pf_test NAME)
  cmake_parse_arguments(PARSE_ARGV 1 TEST "DISCOVER" "" "DEPENDS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/*.cpp)
  if(NOT sources)
    message(STATUS "tests/${NAME}: no sources, skipped")
    return()
  endif()
  list(TRANSFORM TEST_DEPENDS PREPEND pf_ OUTPUT_VARIABLE rooms)
  add_executable(${NAME}_tests ${sources})
  target_include_directories(${NAME}_tests PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${NAME}_tests PRIVATE ${rooms} GTest::gtest_main rapidcheck rapidcheck_gtest)
  if(TEST_DISCOVER)
    gtest_discover_tests(${NAME}_tests TEST_PREFIX ${NAME}. DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${PF_TEST_TIMEOUT})
  else()
    pf_add_test(${NAME} $<TARGET_FILE:${NAME}_tests> --gtest_brief=1)
  endif()
endfunction()

# The player is built as users build their programs: by the wrapper, on top of a library that the wrapper knows nothing of.
function(pf_online NAME)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${NAME})
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${NAME})
  add_library(${NAME}_stage SHARED ${NAME}/stage.cpp)
  target_include_directories(${NAME}_stage PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_options(${NAME}_stage PRIVATE -O2 -fno-sanitize=all -fno-builtin)
  target_link_options(${NAME}_stage PRIVATE -fno-sanitize=all -Wl,--version-script=${source}/stage.map)
  set_target_properties(${NAME}_stage PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${folder} LINK_DEPENDS ${source}/stage.map)

  foreach(compiler clang:clang++-19 gcc:g++)
    string(REPLACE ":" ";" compiler ${compiler})
    list(GET compiler 0 name)
    list(GET compiler 1 command)
    set(player ${folder}/player_${name})
    add_custom_command(OUTPUT ${player} VERBATIM
      COMMAND ${CMAKE_COMMAND} -E env PF_CXX=${command} $<TARGET_FILE_DIR:photofinish>/pf-c++ -std=c++20 -D_GNU_SOURCE -O1
        -Wall -Wextra $<$<STREQUAL:${name},gcc>:-Wno-tsan> -I${CMAKE_CURRENT_SOURCE_DIR} ${source}/player.cpp -pthread
        $<TARGET_FILE:${NAME}_stage> -Wl,-rpath,${folder} -o ${player}
      DEPENDS ${source}/player.cpp ${source}/script.h ${source}/stage.h ${NAME}_stage photofinish pf_runtime_fasttrack)
    list(APPEND players ${player})
  endforeach()
  add_custom_target(${NAME}_players DEPENDS ${players})

  file(GLOB sources CONFIGURE_DEPENDS ${source}/*_test.cpp ${source}/realize.cpp)
  add_executable(${NAME}_tests ${sources} property/oracle.cpp property/guarantees.cpp)
  target_include_directories(${NAME}_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(${NAME}_tests PRIVATE
    PF_ONLINE_FOLDER="${folder}" PF_RUNTIME_FOLDER="${PROJECT_BINARY_DIR}/lib")
  target_link_libraries(${NAME}_tests PRIVATE pf_trace pf_report GTest::gtest_main)
  add_dependencies(${NAME}_tests ${NAME}_players)
  pf_add_test(${NAME} $<TARGET_FILE:${NAME}_tests> --gtest_brief=1)
endfunction()

function(pf_lit NAME)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/*.test)
  if(NOT sources)
    message(STATUS "tests/${NAME}: no .test files, skipped")
    return()
  endif()
  configure_file(${NAME}/lit.site.cfg.py.in ${NAME}/lit.site.cfg.py @ONLY)
  pf_add_test(${NAME} Python3::Interpreter ${PF_LLVM}/build/utils/lit/lit.py -sv ${CMAKE_CURRENT_BINARY_DIR}/${NAME})
endfunction()

function(pf_programs COMPILER)
  set(name programs_${COMPILER})
  configure_file(programs/lit.site.cfg.py.in ${name}/lit.site.cfg.py @ONLY)
  pf_add_test(${name} Python3::Interpreter ${PF_LLVM}/build/utils/lit/lit.py -sv -j2 ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set_tests_properties(${name} PROPERTIES LABELS programs)
endfunction()

# The fuzzer and the rooms it needs are compiled a second time, with sanitizers and coverage feedback.
set(PF_FUZZ_FLAGS -O1 -g -UNDEBUG -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all)

function(pf_fuzz NAME)
  cmake_parse_arguments(PARSE_ARGV 1 FUZZ "" "" "DEPENDS")
  set(fuzzer fuzz_${NAME})
  add_executable(${fuzzer} fuzz/${fuzzer}.cpp)
  target_compile_options(${fuzzer} PRIVATE ${PF_FUZZ_FLAGS} -fsanitize=fuzzer)
  target_link_options(${fuzzer} PRIVATE ${PF_FUZZ_FLAGS} -fsanitize=fuzzer)
  foreach(room IN LISTS FUZZ_DEPENDS)
    pf_fuzz_room(${room})
    target_link_libraries(${fuzzer} PRIVATE pf_${room}_fuzz)
  endforeach()
  pf_add_test(${fuzzer} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/run
    $<TARGET_FILE:${fuzzer}> ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${NAME})
endfunction()

# pf_ROOM_fuzz: pf_ROOM and all it depends on, built for fuzzing.
function(pf_fuzz_room ROOM)
  if(TARGET pf_${ROOM}_fuzz)
    return()
  endif()
  get_target_property(sources pf_${ROOM} PF_SOURCES)
  get_target_property(depends pf_${ROOM} PF_DEPENDS)
  get_target_property(links pf_${ROOM} PF_LIBS)
  foreach(room IN LISTS depends)
    pf_fuzz_room(${room})
    list(APPEND links pf_${room}_fuzz)
  endforeach()
  pf_room_library(pf_${ROOM}_fuzz "${sources}" "" "${links}")
  if(sources)
    target_compile_options(pf_${ROOM}_fuzz PRIVATE ${PF_FUZZ_FLAGS} -fsanitize=fuzzer-no-link)
    set_target_properties(pf_${ROOM}_fuzz PROPERTIES EXPORT_COMPILE_COMMANDS OFF)  # clang-tidy reads each file once
  endif()
endfunction()

function(pf_add_test NAME)
  add_test(NAME ${NAME} COMMAND ${ARGN})
  set_tests_properties(${NAME} PROPERTIES TIMEOUT ${PF_TEST_TIMEOUT})
endfunction()
