# Writes the table of a folder: every file in it joins by being there.
#
# einjit_table(<out-var> <folder> <namespace> <type> <function> <header>) generates a source that
# defines `std::span<const TYPE* const> FUNCTION()` over the entries NAMESPACE::<file stem>.
function(einjit_table out folder namespace type function header)
  file(GLOB files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc")
  set(declarations "")
  set(rows "")
  foreach(file IN LISTS files)
    get_filename_component(stem "${file}" NAME_WE)
    string(APPEND declarations "extern const ${type} ${stem};\n")
    string(APPEND rows "    &${namespace}::${stem},\n")
  endforeach()
  string(REPLACE "::" "_" flat "${namespace}")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/tables/${flat}_table.cc")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"// Written by CMake from the files of @folder@/.
#include \"@header@\"

namespace @namespace@ {
@declarations@}  // namespace @namespace@

namespace {
constexpr const @type@* kRows[] = {
@rows@};
}  // namespace

std::span<const @type@* const> @function@() { return kRows; }
")
  set(${out} "${source}" PARENT_SCOPE)
endfunction()
