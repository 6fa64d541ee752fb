# Run by cpack on the files of the .deb: a copyright file and a changelog, compressed pages, an archive
# without sections that nobody links.
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(doc ${usr}/share/doc/mapsim)
file(MAKE_DIRECTORY ${doc})
string(TIMESTAMP year "%Y")
file(WRITE ${doc}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: mapsim

Files: *
Copyright: ${year} the mapsim authors
License: Apache-2.0

License: Apache-2.0
 On Debian systems the whole text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
Comment: What others wrote is listed, with its licences, in
 /usr/share/doc/mapsim/licenses/THIRD_PARTY.md.
")
file(REMOVE ${doc}/LICENSE ${doc}/licenses/GPL-3.txt ${doc}/licenses/LGPL-3.txt)  # Debian has them
# Sweeps under mpirun are for those who build: the module would make everybody install MPI.
file(GLOB module ${usr}/lib/*/mapsim/mapsim_mpi.so ${usr}/lib/mapsim/mapsim_mpi.so)
if(module)
  cmake_path(GET module PARENT_PATH folder)
  file(REMOVE_RECURSE ${folder})
endif()
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog "mapsim (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * What is new is in /usr/share/doc/mapsim/CHANGELOG.md.gz.

 -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}
")
configure_file(${CPACK_MAPSIM_SOURCE}/CHANGELOG.md ${doc}/CHANGELOG.md COPYONLY)
file(GLOB pages ${usr}/share/man/man1/*.1)
foreach(page ${doc}/changelog ${doc}/CHANGELOG.md ${pages})
  execute_process(COMMAND gzip -9nf ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB archives ${usr}/lib/*.a ${usr}/lib/*/*.a)
foreach(archive IN LISTS archives)
  execute_process(COMMAND ${CPACK_MAPSIM_OBJCOPY} --strip-debug --enable-deterministic-archives
                          --remove-section=.comment ${archive} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB_RECURSE files ${usr}/include/* ${usr}/share/* ${usr}/lib/*.py ${usr}/lib/*.pyi ${usr}/lib/*.cmake
     ${usr}/lib/*.pc ${usr}/lib/*.a)
foreach(file IN LISTS files)
  if(NOT file MATCHES "/slurm/.*\\.sh$")
    file(CHMOD ${file} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endif()
endforeach()
