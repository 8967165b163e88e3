# What the rooms have in common.

# jobs_library(ROOM SOURCES ... LINKS ... [CONTAINS ROOM]): the room's .c files (not its tests) as libjobs-ROOM, static
# and shared, from one compilation. CONTAINS puts another room's objects into the shared one: what a library keeps
# hidden (jobs__...) can be called only from within the same shared object.
function(jobs_library room)
  cmake_parse_arguments(ARG "" "CONTAINS" "SOURCES;LINKS" ${ARGN})
  add_library(jobs-${room}-objects OBJECT ${ARG_SOURCES})
  target_include_directories(jobs-${room}-objects PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(jobs-${room}-objects PUBLIC ${ARG_LINKS})
  foreach(form static shared)
    string(TOUPPER ${form} kind)
    add_library(jobs-${room}-${form} ${kind} $<TARGET_OBJECTS:jobs-${room}-objects>)
    set_target_properties(jobs-${room}-${form} PROPERTIES OUTPUT_NAME jobs-${room}
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    target_include_directories(jobs-${room}-${form} PUBLIC
      $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(jobs-${room}-${form} PRIVATE ${ARG_LINKS})
  endforeach()
  if(ARG_CONTAINS)
    target_sources(jobs-${room}-shared PRIVATE $<TARGET_OBJECTS:jobs-${ARG_CONTAINS}-objects>)
  endif()
  if(NOT JOBS_SANITIZE) # clang leaves its sanitizer's symbols to the program
    target_link_options(jobs-${room}-shared PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(jobs-${room}-shared PROPERTIES EXPORT_NAME ${room})
  set_target_properties(jobs-${room}-static PROPERTIES EXPORT_NAME ${room}-static)
endfunction()

# Every tests/test_NAME.c of the room is one cmocka program and one CTest test ROOM-NAME. One called NAME_memory gets to
# define __wrap_malloc and the like, which our own objects then call, and no shared library does.
function(jobs_tests room)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_*.c)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "test_" "${room}-" target ${name})
    add_executable(${target} ${source})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(${target} PRIVATE JOBS_SOURCE_DIR="${PROJECT_SOURCE_DIR}" JOBS_BINARY_DIR="${PROJECT_BINARY_DIR}")
    target_link_libraries(${target} PRIVATE ${ARG_LINKS} PkgConfig::CMOCKA)
    if(target MATCHES "_memory$")
      target_link_options(${target} PRIVATE LINKER:--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=strdup)
    endif()
    add_test(NAME ${target} COMMAND ${target})
    set_tests_properties(${target} PROPERTIES TIMEOUT 120)
  endforeach()
  jobs_python_tests(${room})
endfunction()

# Every tests/test_NAME.py of the room is one CTest test ROOM-NAME: passed at exit 0, skipped at 77 (its last line says
# what it lacks), told where things are by JOBS_SOURCE_DIR and JOBS_BINARY_DIR. Runs in the environment that ./dev deps
# makes, where there is one.
function(jobs_python_tests room)
  set(python ${PROJECT_SOURCE_DIR}/build/venv/bin/python)
  if(NOT EXISTS ${python})
    set(python ${Python3_EXECUTABLE})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_*.py ${CMAKE_CURRENT_SOURCE_DIR}/test_*.py)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "test_" "${room}-" test ${name})
    add_test(NAME ${test} COMMAND ${python} -B ${source})
    set_tests_properties(${test} PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77
      ENVIRONMENT "JOBS_SOURCE_DIR=${PROJECT_SOURCE_DIR};JOBS_BINARY_DIR=${PROJECT_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endfunction()

# Every fuzz/fuzz_NAME.c of the room is one libFuzzer program, built with -DJOBS_FUZZ=ON by clang.
function(jobs_fuzzers room)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  if(NOT JOBS_FUZZ)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz_*.c)
  foreach(source ${sources})
    get_filename_component(target ${source} NAME_WE)
    add_executable(${target} ${source})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(${target} PRIVATE JOBS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_link_libraries(${target} PRIVATE ${ARG_LINKS})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${target})
  endforeach()
endfunction()
