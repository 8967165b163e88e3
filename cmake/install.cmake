# What `cmake --install` puts where, so that other programs find it: by pkg-config (jobs-core, jobs-sdk) and by
# find_package(jobs) (jobs::core, jobs::sdk, and each with -static). Both work from wherever the folder is moved to.
include(CMakePackageConfigHelpers)

install(DIRECTORY core/include/jobs sdk/include/jobs DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS jobs-core-shared jobs-core-static jobs-sdk-shared jobs-sdk-static EXPORT jobs-targets)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/jobs)
install(EXPORT jobs-targets NAMESPACE jobs:: DESTINATION ${package_dir})
configure_package_config_file(cmake/jobs-config.cmake.in ${PROJECT_BINARY_DIR}/package/jobs-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/jobs-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/jobs-config.cmake ${PROJECT_BINARY_DIR}/package/jobs-config-version.cmake
  DESTINATION ${package_dir})

# A program that links the shared library needs none of the others, not even installed; --static tells what else to link.
function(jobs_pkgconfig room description)
  set(name jobs-${room})
  set(private "")
  foreach(library ${ARGN})
    string(APPEND private " -l${library}")
  endforeach()
  string(REGEX REPLACE "[^/]+" ".." up ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  configure_file(cmake/jobs.pc.in ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
set(core_libraries ${IDN2_LIBRARIES} ${YAML_LIBRARIES} ${JANSSON_LIBRARIES} ${CRYPTO_LIBRARIES})
jobs_pkgconfig(core "The contract of a handed over job: parse, validate, canonical bytes" ${core_libraries})
jobs_pkgconfig(sdk "Hand over a finished job: keys, signed events, relays, the outbox"
  jobs-core ${SECP256K1_LIBRARIES} ${WEBSOCKETS_LIBRARIES} ${SSL_LIBRARIES} ${core_libraries})
