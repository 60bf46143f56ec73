# What `make install` installs: the program, the public headers, and the files by which CMake and pkg-config find them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS photofinish EXPORT photofinish)
install(FILES ${PROJECT_BINARY_DIR}/bin/pf-c++ ${PROJECT_BINARY_DIR}/bin/pf-cc DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES src/cli/gcc_calls.h ${PROJECT_BINARY_DIR}/lib/calls.o DESTINATION lib/photofinish)

if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/include/photofinish)
  add_library(headers INTERFACE)
  target_include_directories(headers INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS headers EXPORT photofinish)
  install(DIRECTORY include/photofinish DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/photofinish)
configure_package_config_file(cmake/photofinishConfig.cmake.in photofinishConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(photofinishConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT photofinish NAMESPACE photofinish:: FILE photofinishTargets.cmake DESTINATION ${package})
install(FILES ${PROJECT_BINARY_DIR}/photofinishConfig.cmake ${PROJECT_BINARY_DIR}/photofinishConfigVersion.cmake
  DESTINATION ${package})

# The .pc file finds the prefix from its own place, so that an installed tree can be moved.
set(pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pkgconfig} OUTPUT_VARIABLE up)
configure_file(cmake/photofinish.pc.in photofinish.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/photofinish.pc DESTINATION ${pkgconfig})
