# What one command costs is mostly what its dynamic linker does. The small libraries that a command rarely uses are
# therefore taken into `jobs` from their archives, where the system has them: 10 % of a handoff. Those that stand
# between us and strangers (OpenSSL, libwebsockets, libsecp256k1) stay shared, so that the system's updates reach them.
# Only into `jobs`: our libraries and the tests link everything shared. -DJOBS_ARCHIVES=OFF where a distribution wants
# that for all. (libidn2 and libunistring are LGPL: whoever hands out such a program hands out what it is built from.)
option(JOBS_ARCHIVES "take small libraries into the program `jobs` from their archives" ON)

# jobs_prefers_archives(LIBRARY NAME...): programs with the property JOBS_ARCHIVES get libNAME.a ... in place of
# PkgConfig::LIBRARY, when all of them are there.
function(jobs_prefers_archives library)
  set(archives "")
  foreach(name ${ARGN})
    find_library(JOBS_ARCHIVE_${name} lib${name}.a HINTS ${${library}_LIBDIR} ${${library}_LIBRARY_DIRS})
    mark_as_advanced(JOBS_ARCHIVE_${name})
    if(NOT JOBS_ARCHIVE_${name})
      message(STATUS "lib${name}.a is not here: ${library} stays a shared library")
      return()
    endif()
    list(APPEND archives ${JOBS_ARCHIVE_${name}})
  endforeach()
  get_target_property(shared PkgConfig::${library} INTERFACE_LINK_LIBRARIES)
  set(choice "$<BOOL:$<TARGET_PROPERTY:JOBS_ARCHIVES>>")
  set(either "")
  foreach(path ${archives})
    list(APPEND either "$<${choice}:${path}>")
  endforeach()
  foreach(path ${shared})
    list(APPEND either "$<$<NOT:${choice}>:${path}>")
  endforeach()
  set_target_properties(PkgConfig::${library} PROPERTIES INTERFACE_LINK_LIBRARIES "${either}")
endfunction()

if(JOBS_ARCHIVES AND NOT JOBS_SANITIZE)
  jobs_prefers_archives(YAML yaml)
  jobs_prefers_archives(JANSSON jansson)
  jobs_prefers_archives(UTF8PROC utf8proc)
  jobs_prefers_archives(IDN2 idn2 unistring)
endif()
