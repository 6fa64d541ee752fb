# Packages (cpack): a .deb of what is installed, and a tarball with the portable program.
set(MAPSIM_MAINTAINER "mapsim maintainers <maintainers@mapsim.invalid>" CACHE STRING
    "Whom the .deb names: NAME <ADDRESS>")
set(MAPSIM_HOMEPAGE "" CACHE STRING "Where the sources are: the address that packages name; empty: they name none")
set(CPACK_PACKAGE_VENDOR mapsim)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "find and prove the best mapping of neural-network layers onto hardware")
set(CPACK_PACKAGE_DESCRIPTION "mapsim searches for the mapping of a deep-learning layer onto a machine (a
systolic array, an NVDLA-like engine, a GPU, or one described in a file) that
needs the least energy or time, and proves that no other mapping is better.
This package has the program, its machines and layers, the C++ library and
the Python module.")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
    GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${MAPSIM_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "${MAPSIM_HOMEPAGE}")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # of the program and the module
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "g++, jupyter-notebook, libfmt-dev, libgmp-dev, libsqlite3-dev, libyaml-cpp-dev, python3-onnx, python3-pandas")
if(MAPSIM_HAVE_PYTHON)
  math(EXPR next "${Python3_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS
      "python3 (>= 3.${Python3_VERSION_MINOR}), python3 (<< 3.${next})")
  set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/debian/postinst"
      "${PROJECT_SOURCE_DIR}/cmake/debian/prerm")
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
endif()
if(MAPSIM_HAVE_PORTABLE)
  list(APPEND CPACK_GENERATOR TGZ)
endif()
# What sets the two apart.
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/PackageKinds.cmake)
set(CPACK_MAPSIM_TARBALL mapsim-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_MAPSIM_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_MAPSIM_OBJCOPY ${CMAKE_OBJCOPY})
include(CPack)
