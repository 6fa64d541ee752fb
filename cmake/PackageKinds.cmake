# Run by cpack for each package that it makes.
if(CPACK_GENERATOR STREQUAL DEB)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  # What Debian asks of a package beyond the files that are installed anywhere.
  set(CPACK_PRE_BUILD_SCRIPTS ${CPACK_MAPSIM_SOURCE}/cmake/DebianFiles.cmake)
else()
  set(CPACK_PACKAGE_FILE_NAME ${CPACK_MAPSIM_TARBALL})
  # The files that every program needs, and the program that needs only libc.
  list(GET CPACK_INSTALL_CMAKE_PROJECTS 0 build)
  set(CPACK_INSTALL_CMAKE_PROJECTS "${build};mapsim;files;/;${build};mapsim;portable;/")
endif()
