// Help texts, the manual page and shell completions, all made from the table (cli/table.h).
#pragma once

#include <string>
#include <string_view>

#include "cli/table.h"

namespace hallmark::cli {

/// All verbs, one line each.
std::string overview();
/// One verb with its flags.
std::string help_of(const Verb& verb);
/// "hallmark run [--depfile F] [--output P]... [--] CMD..."
std::string synopsis(const Verb& verb);

/// hallmark(1) in roff.
std::string manual(std::string_view version);

/// `shell` is bash, zsh or fish.
std::string completions(std::string_view shell);

}  // namespace hallmark::cli
