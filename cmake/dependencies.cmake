# The libraries and tools from outside, all Debian packages (scripts/setup installs them).
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(zydis REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(dw REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)

find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
