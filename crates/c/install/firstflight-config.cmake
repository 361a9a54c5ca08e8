# find_package(firstflight) makes firstflight::firstflight (shared) and firstflight::static.
get_filename_component(_firstflight "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_package(Threads REQUIRED)

foreach(kind IN ITEMS firstflight static)
  if(NOT TARGET firstflight::${kind})
    if(kind STREQUAL static)
      add_library(firstflight::static STATIC IMPORTED)
      set(_file libfirstflight_c.a)
    else()
      add_library(firstflight::firstflight SHARED IMPORTED)
      set(_file libfirstflight_c.so.0)
    endif()
    set_target_properties(firstflight::${kind} PROPERTIES
      IMPORTED_LOCATION "${_firstflight}/lib/${_file}"
      INTERFACE_INCLUDE_DIRECTORIES "${_firstflight}/include")
  endif()
endforeach()
set_property(TARGET firstflight::static PROPERTY
  INTERFACE_LINK_LIBRARIES Threads::Threads ${CMAKE_DL_LIBS} m)

unset(_firstflight)
unset(_file)
