# What --version says: the commit that is checked out, and what is built in.
set(MAPSIM_COMMIT "")
find_program(MAPSIM_GIT git)
mark_as_advanced(MAPSIM_GIT)
if(MAPSIM_GIT AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  set(ask OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  execute_process(COMMAND ${MAPSIM_GIT} rev-parse --short=12 HEAD
                  OUTPUT_VARIABLE MAPSIM_COMMIT ${ask})
  execute_process(COMMAND ${MAPSIM_GIT} rev-parse --git-path logs/HEAD
                  OUTPUT_VARIABLE head_log ${ask})
  # It changes when another commit is checked out or made: then, and only then, this is asked anew.
  if(head_log)
    cmake_path(ABSOLUTE_PATH head_log BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
  endif()
  if(EXISTS "${head_log}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${head_log})
  endif()
endif()
if(NOT MAPSIM_COMMIT)
  set(MAPSIM_COMMIT unknown)  # of a tarball
endif()

set(MAPSIM_BUILD "${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
if(MAPSIM_SANITIZE)
  string(APPEND MAPSIM_BUILD ", sanitizers ${MAPSIM_SANITIZE}")
endif()

# mapsim_features(TEXT MPI STATIC): what --version says of a program with or without MPI and static linking. MPI is ON,
# OFF, or "not installed": built, but its module is not beside the program.
function(mapsim_features text mpi static)
  set(with "")
  set(without "")
  foreach(feature "ONNX models=ON" "MPI=${mpi}" "CUDA kernels compiled ahead of time=${MAPSIM_HAVE_CUDA}"
                  "static linking=${static}")
    string(REGEX MATCH "(.*)=(.*)" matched ${feature})
    if(CMAKE_MATCH_2 STREQUAL "not installed")
      list(APPEND without "${CMAKE_MATCH_1} (mapsim_mpi.so, for sweeps under mpirun, is not installed)")
    elseif(CMAKE_MATCH_2)
      list(APPEND with ${CMAKE_MATCH_1})
    else()
      list(APPEND without ${CMAKE_MATCH_1})
    endif()
  endforeach()
  foreach(list with without)
    list(JOIN ${list} ", " ${list})
    if(NOT ${list})
      set(${list} nothing)
    endif()
  endforeach()
  set(${text} "with ${with}\\nwithout ${without}" PARENT_SCOPE)
endfunction()

# mapsim_version(FILE MPI STATIC): the source that says so.
function(mapsim_version file mpi static)
  mapsim_features(MAPSIM_FEATURES "${mpi}" ${static})
  set(MAPSIM_FEATURES_ALONE "${MAPSIM_FEATURES}")
  if(mpi)
    mapsim_features(MAPSIM_FEATURES_ALONE "not installed" ${static})
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/app/version.cpp.in ${file} @ONLY)
endfunction()
