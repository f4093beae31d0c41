# libkheya: the C API over the rooms from base to engine, one shared library that exports kheya_*
# alone; and the install rules for it, its headers, the CMake package and the pkg-config file.
include(CMakePackageConfigHelpers)

file(WRITE ${CMAKE_BINARY_DIR}/libkheya.c "/* the library's code is in the rooms */\n")
add_library(kheya SHARED ${CMAKE_BINARY_DIR}/libkheya.c)
target_link_libraries(kheya PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,kheya_engine>" kheya_flags)
target_include_directories(kheya INTERFACE
                           $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(kheya PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 1
                      LINKER_LANGUAGE CXX)
add_library(Kheya::kheya ALIAS kheya)

install(TARGETS kheya EXPORT KheyaTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/kheya DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Kheya)
install(EXPORT KheyaTargets NAMESPACE Kheya:: DESTINATION ${package_dir})
configure_package_config_file(cmake/KheyaConfig.cmake.in ${CMAKE_BINARY_DIR}/KheyaConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/KheyaConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/KheyaConfig.cmake ${CMAKE_BINARY_DIR}/KheyaConfigVersion.cmake
        DESTINATION ${package_dir})
configure_file(cmake/kheya.pc.in ${CMAKE_BINARY_DIR}/kheya.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/kheya.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
