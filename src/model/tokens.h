// Tokens: names for values that differ between machines, users and checkouts but do not matter by themselves.
//
// Folding replaces each occurrence of a value at a path boundary by its token; unfolding puts today's values
// in. A token is '\x01' name '\x02'; text that holds either byte cannot be folded (fold gives nullopt) and is
// then not published.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hallmark::model {

class Tokens {
 public:
  /// `value` is an absolute path without a trailing slash, not "/"; empty, "/" and relative values are
  /// ignored. Longer values win over shorter ones, earlier tokens over later ones of equal value.
  void add(std::string name, std::string value);

  std::optional<std::string> fold(std::string_view text) const;
  /// nullopt if it holds a token that is not declared.
  std::optional<std::string> unfold(std::string_view text) const;

  /// The names of tokens whose value occurs in `bytes` (at any place, path boundary or not).
  std::vector<std::string> mentioned_in(std::string_view bytes) const;

  /// nullptr if no such token.
  const std::string* value_of(std::string_view name) const;

 private:
  struct Token {
    std::string name;
    std::string value;
  };
  std::vector<Token> tokens_;  // longest value first
};

}  // namespace hallmark::model
