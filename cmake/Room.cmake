# hallmark_room(NAME [DEPENDS room...] [LINK library...] [SOURCES file...])
#
# Declares the room src/NAME as the static library hallmark_NAME. A room may include the headers of the rooms in
# DEPENDS only; tests/tidy/rooms.py holds the table of the design and checks both this declaration and each #include.
# Sources are globbed with CONFIGURE_DEPENDS: src/NAME/*.cpp and src/NAME/internal/*.cpp.
function(hallmark_room NAME)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK;SOURCES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/*.cpp
       ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/internal/*.cpp)
  add_library(hallmark_${NAME} STATIC ${sources} ${ARG_SOURCES})
  target_include_directories(hallmark_${NAME} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM ARG_DEPENDS PREPEND hallmark_)
  target_link_libraries(hallmark_${NAME} PUBLIC hallmark_flags ${ARG_DEPENDS} ${ARG_LINK})
endfunction()
