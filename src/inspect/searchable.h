// Searchable: the bytes of a file in which a text could be found, with what is packed inside unpacked.
//
// It answers one question: does this file contain that text, for sure not, or can nobody tell? Known forms:
// text; ELF (all of it, and compressed debug sections and fat binaries unpacked); ar archives of known forms;
// PTX, cubins and fat binaries; clang offload bundles. Everything else, and every
// form with a part that does not unpack, is opaque.
//
// Contract: pure, bytes of any origin, at most kSearchableDepth levels of nesting. Thread-safe.
#pragma once

#include <functional>
#include <string_view>

namespace hallmark::inspect {

inline constexpr int kSearchableDepth = 6;
inline constexpr std::size_t kUnpackedSectionBytes = std::size_t{1} << 30;

enum class Visibility {
  clear,   ///< every byte that can hold a text was visited
  opaque,  ///< some part was packed or of an unknown form: nobody can tell what it holds
};

/// Calls `visit` for runs of bytes, the whole file first. Views are valid during the call only.
Visibility visit_searchable(std::string_view bytes, const std::function<void(std::string_view)>& visit);

}  // namespace hallmark::inspect
