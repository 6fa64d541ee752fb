# Writes the source file OUTPUT with a name for what the sources of the list in the file INPUT say:
#   cmake -DINPUT=LIST -DFOLDER=ROOT -DTEMPLATE=FILE.in -DOUTPUT=FILE -P ResultsVersion.cmake
# Results of campaigns are kept under it (docs/decisions/0028): any change of a source is another name.
file(STRINGS "${INPUT}" sources)
set(all "")
foreach(source IN LISTS sources)
  file(SHA256 "${FOLDER}/${source}" hash)
  string(APPEND all "${source} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING "${hash}" 0 12 MAPSIM_SOURCES)
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
