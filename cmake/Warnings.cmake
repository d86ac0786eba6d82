# Flags that every target of the project gets, through one interface target.
add_library(hallmark_flags INTERFACE)
target_compile_options(hallmark_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
                                                -Wnon-virtual-dtor -Woverloaded-virtual -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ 12 sees overlapping copies in std::string's own assign (GCC bug 105651).
  target_compile_options(hallmark_flags INTERFACE -Wno-restrict)
endif()
if(HALLMARK_SANITIZE)
  target_compile_options(hallmark_flags INTERFACE -fsanitize=${HALLMARK_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_link_options(hallmark_flags INTERFACE -fsanitize=${HALLMARK_SANITIZE})
endif()
if(HALLMARK_FUZZ)  # clang only: every room reports its coverage to libFuzzer
  target_compile_options(hallmark_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
