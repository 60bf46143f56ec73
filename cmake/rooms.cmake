# A room is a folder of src/ and one library: pf_NAME, made of every .cpp in the folder (INTERFACE if there is none).
#
#   pf_room(NAME [DEPENDS room...] [LIBS target...] [PROGRAM name])
#
# DEPENDS are the arrows of the design, and the only ones: scripts/check-arrows reads them here and checks the #include
# lines against them. LIBS are libraries from outside. PROGRAM makes main.cpp an executable of that name, in bin/.
# A room depends only on rooms declared above it.

function(pf_room NAME)
  cmake_parse_arguments(PARSE_ARGV 1 ROOM "" "PROGRAM" "DEPENDS;LIBS")
  set(folder ${PROJECT_SOURCE_DIR}/src/${NAME})
  if(ROOM_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "pf_room(${NAME}): what is '${ROOM_UNPARSED_ARGUMENTS}'?")
  elseif(NOT IS_DIRECTORY ${folder})
    message(FATAL_ERROR "pf_room(${NAME}): there is no folder src/${NAME}")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${folder}/*.h)

  set(links ${ROOM_LIBS})
  foreach(room IN LISTS ROOM_DEPENDS)
    if(NOT TARGET pf_${room})
      message(FATAL_ERROR "pf_room(${NAME}): no room '${room}' is declared above it")
    endif()
    list(APPEND links pf_${room})
  endforeach()

  if(ROOM_PROGRAM)
    list(REMOVE_ITEM sources ${folder}/main.cpp)
    add_executable(${ROOM_PROGRAM} ${folder}/main.cpp)
    target_link_libraries(${ROOM_PROGRAM} PRIVATE pf_${NAME})
    set_target_properties(${ROOM_PROGRAM} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  endif()
  pf_room_library(pf_${NAME} "${sources}" "${headers}" "${links}")

  # What a second build of the same room needs to know (pf_fuzz).
  set_target_properties(pf_${NAME} PROPERTIES PF_SOURCES "${sources}" PF_DEPENDS "${ROOM_DEPENDS}" PF_LIBS "${ROOM_LIBS}")
endfunction()

# The library TARGET of a room's sources, or an INTERFACE one if it has only headers.
function(pf_room_library TARGET sources headers links)
  if(sources)
    add_library(${TARGET} STATIC ${sources} ${headers})
    set(scope PUBLIC)
  else()
    add_library(${TARGET} INTERFACE ${headers})
    set(scope INTERFACE)
  endif()
  target_include_directories(${TARGET} ${scope} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${TARGET} ${scope} ${links})
endfunction()
