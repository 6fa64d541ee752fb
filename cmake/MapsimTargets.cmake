# mapsim_library(NAME [COLD] SOURCES... [HOT sources...] [PUBLIC libs...] [PRIVATE libs...]): the one library of a folder.
# What is COLD reads, writes and calls, and takes no time itself, but for its HOT sources: it is optimised less, and
# compiles in half of the time.
function(mapsim_library name)
  cmake_parse_arguments(ARG "COLD" "" "SOURCES;HOT;PUBLIC;PRIVATE" ${ARGN})
  add_library(mapsim_${name} STATIC ${ARG_SOURCES})
  add_library(mapsim::${name} ALIAS mapsim_${name})
  target_include_directories(mapsim_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(mapsim_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  mapsim_options(mapsim_${name})
  if(ARG_HOT)
    add_library(mapsim_${name}_hot OBJECT ${ARG_HOT})
    target_include_directories(mapsim_${name}_hot PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(mapsim_${name}_hot PRIVATE ${ARG_PUBLIC} ${ARG_PRIVATE})
    mapsim_options(mapsim_${name}_hot)
    mapsim_precompile(mapsim_${name}_hot)
    target_sources(mapsim_${name} PRIVATE $<TARGET_OBJECTS:mapsim_${name}_hot>)
  endif()
  if(ARG_COLD)
    mapsim_cold(mapsim_${name})
  endif()
  mapsim_precompile(mapsim_${name})
endfunction()

# mapsim_alone(SOURCES...): files that are compiled alone even where CMAKE_UNITY_BUILD compiles several
# as one, since names local to them are names of their neighbours, too.
function(mapsim_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Less optimisation, for a target that takes no time itself: -Og makes less code than -O0, and takes two thirds of the
# time of -O1 to compile. Before mapsim_precompile().
function(mapsim_cold target)
  set_target_properties(${target} PROPERTIES MAPSIM_COLD ON)
  if(NOT MAPSIM_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-Og>)
  endif()
endfunction()

# What stands for the precompiled header of a target in the key of a compiler cache that is told to look
# (CCACHE_PCH_EXTSUM, which .ci/run sets): the compiled header itself differs from folder to folder, so that no object
# would serve two builds.
function(mapsim_name_precompiled target)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.gch.sum"
       "${CMAKE_CXX_COMPILER_VERSION} ${fmt_VERSION} ${GTest_VERSION} ${ARGN}\n")
endfunction()

# The headers that most sources take, compiled once for each set of flags (with OpenMP or without, cold or not): a
# compiler takes them only where the flags are the same. The preset debug builds without them, which shows sources that
# do not include what they use.
function(mapsim_precompile target)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if(NOT MAPSIM_PCH OR NOT mapsim_fmt IN_LIST libraries)
    return()
  endif()
  set(kind MAPSIM_PCH_PLAIN)
  if(OpenMP::OpenMP_CXX IN_LIST libraries)
    set(kind MAPSIM_PCH_OPENMP)
  endif()
  get_target_property(cold ${target} MAPSIM_COLD)
  if(cold)
    string(APPEND kind _COLD)
  endif()
  get_property(owner GLOBAL PROPERTY ${kind})
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  else()
    set(headers <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <numeric> <optional> <set> <span>
      <string> <string_view> <tuple> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)
    target_precompile_headers(${target} PRIVATE ${headers})
    mapsim_name_precompiled(${target} ${headers})
    set_property(GLOBAL PROPERTY ${kind} ${target})
  endif()
endfunction()

# mapsim_warnings(TARGET flags...): warnings, the same for every target of ours, and these flags.
function(mapsim_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow ${ARGN})
  if(MAPSIM_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# Warnings, sanitizers and what a shared object needs, the same for every target that users have. Where several sources
# are compiled as one (CMAKE_UNITY_BUILD), two dozen are: eight take a sixth more time for headers and templates.
function(mapsim_options target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 24)
  if(MAPSIM_HAVE_PYTHON)
    # The module is a shared object. With hidden names calls stay direct, and the search as fast.
    mapsim_warnings(${target} -fPIC -fvisibility=hidden -fvisibility-inlines-hidden)
  else()
    mapsim_warnings(${target})
  endif()
  if(MAPSIM_SANITIZE)
    # Without the checks that AddressSanitizer makes anyhow, and with its own as calls: each takes 30 %
    # of the time to compile. The sanitizers' code makes gcc warn of what is not so.
    target_compile_options(${target} PRIVATE -Wno-error -Og -g1 -UNDEBUG -D_GLIBCXX_ASSERTIONS
                           -fsanitize=${MAPSIM_SANITIZE} -fno-sanitize=null,alignment,object-size,vptr
                           -fno-sanitize-recover=all -fno-omit-frame-pointer
                           $<$<CXX_COMPILER_ID:GNU>:--param=asan-instrumentation-with-call-threshold=0>)
    target_link_options(${target} PUBLIC -fsanitize=${MAPSIM_SANITIZE})
  endif()
endfunction()

# mapsim_program(NAME [COLD] SOURCES... LIBS...): an executable of ours.
function(mapsim_program name)
  cmake_parse_arguments(ARG "COLD" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS})
  mapsim_options(${name})
  if(ARG_COLD)
    mapsim_cold(${name})
  endif()
  mapsim_precompile(${name})
endfunction()
