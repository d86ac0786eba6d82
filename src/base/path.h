// Pure functions on path texts. Nothing here touches a file system: `..` and links are never resolved by
// text.
#pragma once

#include <string>
#include <string_view>

namespace hallmark::path {

/// `folder` + "/" + `name`; an absolute `name` wins; an empty `name` gives `folder`.
std::string join(std::string_view folder, std::string_view name);

/// All before the last slash ("/" for "/x", "" for "x").
std::string_view parent(std::string_view path);

/// All behind the last slash.
std::string_view base_name(std::string_view path);

/// "/a//" as "/a"; "/" stays.
std::string_view without_trailing_slashes(std::string_view path);

/// True if `path` is `folder` or lies below it. Both in normal form. Everything lies below "/".
bool is_within(std::string_view path, std::string_view folder);

/// `path` as seen from `folder` if it lies below it ("." for itself), else `path` unchanged.
std::string relative_below(std::string_view path, std::string_view folder);

}  // namespace hallmark::path
