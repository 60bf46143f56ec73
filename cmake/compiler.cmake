# How every source of the project is compiled: C++20, no warnings, cached, with a compile_commands.json.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
add_compile_definitions(PHOTOFINISH_VERSION="${PROJECT_VERSION}")

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(-fuse-ld=lld)
else()
  add_compile_options(-Wno-restrict)  # g++ 12 sees overlaps in std::string's own code that are not there
endif()

find_program(PF_CCACHE ccache)
if(PF_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PF_CCACHE})
endif()
