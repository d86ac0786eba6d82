# hallmark_room(NAME [DEPENDS room...] [LINK library...])
#
# Declares the room src/NAME as the static library hallmark_NAME. A room may include the headers of the rooms in
# DEPENDS, and of what those depend on; tests/tidy/rooms.py holds the table of the design and checks both this
# declaration and each #include. Sources are globbed with CONFIGURE_DEPENDS: src/NAME/*.cpp and
# src/NAME/internal/*.cpp. A room of headers only becomes an interface library.
function(hallmark_room NAME)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/*.cpp
       ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/internal/*.cpp)
  if(sources)
    add_library(hallmark_${NAME} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(hallmark_${NAME} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(hallmark_${NAME} ${scope} ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM ARG_DEPENDS PREPEND hallmark_)
  target_link_libraries(hallmark_${NAME} ${scope} hallmark_flags ${ARG_DEPENDS} ${ARG_LINK})
endfunction()
