# The runtime that lives in the target: one library per detector, so that its hot path has no dispatch.
#
#   pf_runtime(NAME DEPENDS room... DETECTORS name:Template... DETECTOR_SOURCES file... WATCHERS name... WATCHER_SOURCES file...
#              RECORDER_SOURCES file... SAMPLER_SOURCES file... SAMPLER_INTERCEPTS name... IN_TARGET room...)
#
# Most of src/NAME is the same for all detectors and compiled once; the files of DETECTOR_SOURCES see the detector and
# are compiled for each; WATCHERS are engines without a detector's history, with WATCHER_SOURCES instead;
# lib/record writes down what it sees, with RECORDER_SOURCES. lib/sampler is for programs that
# are not instrumented: SAMPLER_SOURCES, and of the interceptors only SAMPLER_INTERCEPTS. Rooms of IN_TARGET are
# compiled once more, as the runtime is. A library lib/<detector>/libphotofinish.so also answers to the names of GCC's own runtime.

# It may use nothing of the program's: no exceptions, no C++ library, no constructors, no hidden calls to libc. Leaf functions have no frame in
# any preset: code that is copied (near.h) leaves the stack pointer where it was.
set(PF_RUNTIME_FLAGS -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility=hidden -fPIC
  -fno-stack-protector -fno-sanitize=all -fno-builtin-malloc -U_FORTIFY_SOURCE -mcx16 -ftls-model=initial-exec
  -foptimize-sibling-calls -momit-leaf-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND PF_RUNTIME_FLAGS -Wglobal-constructors)
else()
  list(APPEND PF_RUNTIME_FLAGS -Wno-ignored-attributes)  # of the functions that Real<> is a pointer to
endif()

# What is hot the compiler knows from runs of real programs: RUNTIME/fasttrack.proftext, which bench/online/train writes from what an instrumented
# library counts (PF_PROFILE=MAKE). What a function's code has changed since then is seen, and it is compiled as if nothing were known of it.
set(PF_PROFILE USE CACHE STRING "what is known of hot code: USE it, MAKE it, or OFF")
set_property(CACHE PF_PROFILE PROPERTY STRINGS USE MAKE OFF)
if(NOT PF_PROFILE MATCHES "^(USE|MAKE|OFF)$")
  message(FATAL_ERROR "PF_PROFILE is ${PF_PROFILE}: it can be USE, MAKE or OFF")
endif()
set(PF_PROFILE_FLAGS)
set(PF_PROFILE_LINK_FLAGS)

function(pf_runtime_profile NAME)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/src/${NAME})
  if(PF_PROFILE STREQUAL "MAKE")
    set(PF_PROFILE_FLAGS -fprofile-generate -fprofile-update=atomic PARENT_SCOPE)
    set(PF_PROFILE_LINK_FLAGS -fprofile-generate PARENT_SCOPE)
    set_property(SOURCE ${folder}/abi/near.cpp PROPERTY COMPILE_OPTIONS -fno-profile-generate)  # copied, it may refer to nothing
    return()
  endif()
  string(REGEX MATCH "^[0-9]+" major ${CMAKE_CXX_COMPILER_VERSION})
  find_program(PF_PROFDATA llvm-profdata-${major})
  if(PF_PROFILE STREQUAL "USE" AND PF_PROFDATA)
    configure_file(${folder}/fasttrack.proftext ${PROJECT_BINARY_DIR}/fasttrack.proftext @ONLY)
    file(SHA256 ${PROJECT_BINARY_DIR}/fasttrack.proftext hash)
    string(SUBSTRING ${hash} 0 12 hash)
    set(profile ${PROJECT_BINARY_DIR}/fasttrack-${hash}.profdata)  # by what is in it: when that changes, so does the command line
    if(NOT EXISTS ${profile})
      execute_process(COMMAND ${PF_PROFDATA} merge ${PROJECT_BINARY_DIR}/fasttrack.proftext -o ${profile} COMMAND_ERROR_IS_FATAL ANY)
    endif()
    set(PF_PROFILE_FLAGS -fprofile-use=${profile} -Wno-profile-instr-unprofiled -Wno-profile-instr-out-of-date -Wno-backend-plugin
      PARENT_SCOPE)
    set_property(SOURCE ${folder}/abi/near.cpp PROPERTY COMPILE_OPTIONS -fno-profile-use)
  endif()
endfunction()

function(pf_runtime NAME)
  cmake_parse_arguments(PARSE_ARGV 1 RUNTIME "" "" "DEPENDS;DETECTORS;DETECTOR_SOURCES;WATCHERS;WATCHER_SOURCES;RECORDER_SOURCES;SAMPLER_SOURCES;SAMPLER_INTERCEPTS;IN_TARGET")
  set(folder ${PROJECT_SOURCE_DIR}/src/${NAME})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  list(TRANSFORM RUNTIME_DETECTOR_SOURCES PREPEND ${folder}/ OUTPUT_VARIABLE of_detector)
  list(TRANSFORM RUNTIME_WATCHER_SOURCES PREPEND ${folder}/ OUTPUT_VARIABLE of_watcher)
  list(TRANSFORM RUNTIME_RECORDER_SOURCES PREPEND ${folder}/ OUTPUT_VARIABLE of_recorder)
  list(TRANSFORM RUNTIME_SAMPLER_SOURCES PREPEND ${folder}/ OUTPUT_VARIABLE of_sampler)
  list(REMOVE_ITEM sources ${of_detector} ${of_watcher} ${of_recorder} ${of_sampler})
  foreach(room IN LISTS RUNTIME_IN_TARGET)
    file(GLOB in_target CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
    list(APPEND sources ${in_target})
  endforeach()

  # Defines memcpy and its like: the compiler must not see a call to them in how they are written.
  set_source_files_properties(${folder}/intercept/strings.cpp PROPERTIES COMPILE_OPTIONS -fno-builtin)
  pf_runtime_profile(${NAME})
  add_library(pf_${NAME}_common OBJECT ${sources})
  pf_runtime_options(pf_${NAME}_common)
  target_compile_options(pf_${NAME}_common PRIVATE ${PF_PROFILE_FLAGS})
  set(common $<TARGET_OBJECTS:pf_${NAME}_common>)
  foreach(detector IN LISTS RUNTIME_DETECTORS)
    string(REPLACE ":" ";" detector ${detector})
    list(GET detector 0 name)
    list(GET detector 1 template)
    string(REGEX REPLACE "-.*" "" engine ${name})  # fasttrack-libs is fasttrack with an option
    pf_runtime_for(${NAME} ${name} "${of_detector}" "${common}" PF_DETECTOR=${template} PF_DETECTOR_NAME="${engine}")
    if(name STREQUAL "fasttrack")
      target_compile_options(pf_${NAME}_fasttrack_objects PRIVATE ${PF_PROFILE_FLAGS})
    endif()
  endforeach()
  foreach(watcher IN LISTS RUNTIME_WATCHERS)
    pf_runtime_for(${NAME} ${watcher} "${of_watcher}" "${common}" PF_WATCHER="${watcher}" PF_SAMPLER=false)
  endforeach()
  pf_runtime_for(${NAME} record "${of_recorder}" "${common}" PF_RECORDER)
  list(JOIN RUNTIME_SAMPLER_INTERCEPTS "|" kept)
  set(few $<FILTER:${common},INCLUDE,/abi/report\\.cpp|/${NAME}/[a-z_]+\\.cpp|/watch/|/intercept/\(${kept}\)\\.cpp>)
  pf_runtime_for(${NAME} sampler "${of_sampler}" "${few}" PF_WATCHER="clockrace" PF_SAMPLER=true)
endfunction()

function(pf_runtime_options TARGET)
  target_include_directories(${TARGET} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${TARGET} PRIVATE ${PF_RUNTIME_FLAGS})
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${TARGET} PRIVATE -O2 -g1)
  else()
    target_compile_options(${TARGET} PRIVATE -O1)
  endif()
endfunction()

function(pf_runtime_for ROOM DETECTOR sources others)  # objects; and definitions
  set(objects pf_${ROOM}_${DETECTOR}_objects)
  add_library(${objects} OBJECT ${sources})
  pf_runtime_options(${objects})
  target_compile_definitions(${objects} PRIVATE ${ARGN})

  set(folder ${PROJECT_BINARY_DIR}/lib/${DETECTOR})
  set(library pf_${ROOM}_${DETECTOR})
  add_library(${library} SHARED $<TARGET_OBJECTS:${objects}> ${others})
  add_library(${library}_static STATIC $<TARGET_OBJECTS:${objects}> ${others})
  set_target_properties(${library} ${library}_static PROPERTIES OUTPUT_NAME photofinish
    LIBRARY_OUTPUT_DIRECTORY ${folder} ARCHIVE_OUTPUT_DIRECTORY ${folder})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_link_options(${library} PRIVATE -nostdlib++ ${PF_PROFILE_LINK_FLAGS})
  else()  # has no such option
    target_link_options(${library} PRIVATE -nodefaultlibs)
    target_link_libraries(${library} PRIVATE c gcc)
  endif()
  target_link_options(${library} PRIVATE -fno-sanitize=all -Wl,-z,defs -Wl,-z,now -Wl,-Bsymbolic -Wl,-z,nodelete)
  add_custom_command(TARGET ${library} POST_BUILD VERBATIM WORKING_DIRECTORY ${folder}
    COMMAND ln -sf libphotofinish.so libtsan.so COMMAND ln -sf libphotofinish.so libtsan.so.2)
  add_custom_command(TARGET ${library}_static POST_BUILD VERBATIM WORKING_DIRECTORY ${folder}
    COMMAND ln -sf libphotofinish.a libtsan.a)
  install(DIRECTORY ${folder}/ DESTINATION lib/photofinish/${DETECTOR})
endfunction()
