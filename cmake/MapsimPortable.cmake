# MAPSIM_PORTABLE decides about mapsim_portable, the program of the tarball: AUTO makes it where an older glibc is
# unpacked (tools/old_glibc.sh), ON demands that.
if(NOT MAPSIM_PORTABLE MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "MAPSIM_PORTABLE is '${MAPSIM_PORTABLE}'; it may be AUTO, ON or OFF")
endif()
set(MAPSIM_HAVE_PORTABLE FALSE)
if(NOT MAPSIM_PORTABLE STREQUAL "OFF")
  if(EXISTS ${MAPSIM_OLD_GLIBC}/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libc.so.6)
    set(MAPSIM_HAVE_PORTABLE TRUE)
  elseif(MAPSIM_PORTABLE STREQUAL "ON")
    message(FATAL_ERROR "MAPSIM_PORTABLE is ON, but there is no glibc in ${MAPSIM_OLD_GLIBC}; "
                        "tools/old_glibc.sh FOLDER unpacks one")
  endif()
endif()
if(MAPSIM_HAVE_PORTABLE)
  message(STATUS "Portable program: for the glibc in ${MAPSIM_OLD_GLIBC}")
else()
  message(STATUS "Portable program: none (MAPSIM_PORTABLE=${MAPSIM_PORTABLE})")
endif()

# mapsim_make_portable(PROGRAM): PROGRAM_portable, of the same objects and libmapsim.a, with all other libraries from
# archives. libc stays shared: it must match the machine, and a static one cannot load the libraries of a GPU.
function(mapsim_make_portable program)
  set(target ${program}_portable)
  set(archives "")
  foreach(name yaml-cpp sqlite3 gmpxx gmp gomp)
    find_library(MAPSIM_ARCHIVE_${name} lib${name}.a HINTS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES} REQUIRED)
    mark_as_advanced(MAPSIM_ARCHIVE_${name})
    list(APPEND archives ${MAPSIM_ARCHIVE_${name}})
  endforeach()
  mapsim_version(${CMAKE_CURRENT_BINARY_DIR}/portable/version.cpp OFF ON)
  add_executable(${target} $<FILTER:$<TARGET_OBJECTS:${program}>,EXCLUDE,/version.cpp> old_glibc.cpp fmt_archive.cpp
                 ${CMAKE_CURRENT_BINARY_DIR}/portable/version.cpp)
  mapsim_options(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${program} UNITY_BUILD OFF
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/portable)
  set(glibc ${MAPSIM_OLD_GLIBC}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc --sysroot=${MAPSIM_OLD_GLIBC} -B${glibc}
                      -L${glibc} -L${MAPSIM_OLD_GLIBC}/lib/${CMAKE_LIBRARY_ARCHITECTURE})
  add_dependencies(${target} mapsim_library)
  target_link_libraries(${target} PRIVATE $<TARGET_FILE:mapsim_library> ${archives}
                        -lpthread -ldl)  # parts of libc from 2.34 on
  install(TARGETS ${target} COMPONENT portable EXCLUDE_FROM_ALL)
endfunction()
