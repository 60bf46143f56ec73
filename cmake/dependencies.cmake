# The libraries and tools from outside, all Debian packages (scripts/setup installs them).
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(zydis REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(dw REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(z3 REQUIRED IMPORTED_TARGET z3)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
find_package(Threads REQUIRED)

# It comes with neither a CMake nor a pkg-config file.
find_path(cadical_INCLUDE cadical.hpp REQUIRED)
find_library(cadical_LIBRARY cadical REQUIRED)
add_library(cadical::cadical UNKNOWN IMPORTED)
set_target_properties(cadical::cadical PROPERTIES IMPORTED_LOCATION ${cadical_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${cadical_INCLUDE})

find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
