#include "cli/parser.h"

#include <algorithm>
#include <numeric>

namespace hallmark::cli {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

/// Keeps the known word nearest to what was typed, if it is near enough to be meant.
class Suggestion {
 public:
  explicit Suggestion(std::string_view typed) : typed_(typed), best_(letters(typed) / 3 + 1) {}

  void offer(std::string_view known) {
    const std::size_t distance = edit_distance(typed_, known);
    if (distance > best_ || (distance == best_ && !word_.empty())) return;
    best_ = distance;
    word_ = known;
  }
  std::string hint(std::string_view otherwise) const {
    return word_.empty() ? std::string(otherwise) : "did you mean `" + std::string(word_) + "`?";
  }

 private:
  /// The dashes of a flag are right in any case.
  static std::size_t letters(std::string_view typed) {
    return typed.size() - std::min(typed.size(), typed.find_first_not_of('-'));
  }

  std::string_view typed_;
  std::size_t best_;
  std::string_view word_;
};

tl::unexpected<Error> usage(std::string what, std::string hint) {
  return fail(Error{ErrorKind::invalid, std::move(what), std::move(hint)});
}

std::string quoted(std::string_view word) {
  return "`" + std::string(word) + "`";
}

std::string help_of(const Verb& verb) {
  return "`hallmark " + std::string(verb.name) + " --help` lists what it takes";
}

const Flag* find_flag(const Verb& verb, std::string_view name) {
  for (const std::span<const Flag> flags : {verb.flags, common_flags()})
    for (const Flag& flag : flags)
      if (flag.name == name) return &flag;
  return nullptr;
}

/// Finds the verb in the first one or two words and drops them.
Result<const Verb*> take_verb(std::span<const std::string_view>& words) {
  if (words.empty()) return usage("no verb was given", "`hallmark help` lists them");
  const std::string_view first = words.front();
  if (words.size() > 1) {
    const std::string both = std::string(first) + " " + std::string(words[1]);
    if (const Verb* verb = find_verb(both)) {
      words = words.subspan(2);
      return verb;
    }
  }
  if (const Verb* verb = find_verb(first)) {
    words = words.subspan(1);
    return verb;
  }
  Suggestion suggestion(first);
  std::string second_words;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    const auto space = verb.name.find(' ');
    if (space != std::string_view::npos && verb.name.substr(0, space) == first)
      second_words += (second_words.empty() ? "" : " or ") + quoted(verb.name);
    suggestion.offer(verb.name.substr(0, space));
  }
  if (!second_words.empty()) return usage(quoted(first) + " wants one more word", "write " + second_words);
  return usage("there is no verb " + quoted(first),
               suggestion.hint("`hallmark help` lists all; to run a command: hallmark run -- CMD..."));
}

class Parser {
 public:
  Parser(const Verb& verb, std::span<const std::string_view> words) : words_(words) { parsed_.verb = &verb; }

  Result<Parsed> parse() {
    while (!words_.empty()) {
      const std::string_view word = words_.front();
      if (word == "--") {
        words_ = words_.subspan(1);
        break;
      }
      if (word.size() > 1 && word.front() == '-') {
        HALLMARK_CHECK(take_flag());
      } else if (parsed_.verb->operands == Operands::command) {
        break;
      } else {
        parsed_.operands.push_back(word);
        words_ = words_.subspan(1);
      }
    }
    parsed_.operands.insert(parsed_.operands.end(), words_.begin(), words_.end());
    if (!parsed_.has("--help")) HALLMARK_CHECK(check_operands());
    return std::move(parsed_);
  }

 private:
  Status take_flag() {
    const Verb& verb = *parsed_.verb;
    std::string_view name = words_.front();
    words_ = words_.subspan(1);
    std::optional<std::string_view> value;
    if (const auto equals = name.find('='); equals != std::string_view::npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    }
    const Flag* flag = find_flag(verb, name == "-h" ? "--help" : name);
    if (flag == nullptr) {
      Suggestion suggestion(name);
      for (const Flag& known : verb.flags) suggestion.offer(known.name);
      return usage("`hallmark " + std::string(verb.name) + "` has no flag " + quoted(name),
                   suggestion.hint(help_of(verb)));
    }
    if (flag->value.empty()) {
      if (value) return usage(quoted(name) + " takes no value", "write it without =" + std::string(*value));
    } else {
      if (!value) {
        // "--output -- CMD": the mark of the command is no value; one of that name is written with "=".
        if (words_.empty() || words_.front() == "--")
          return usage(quoted(name) + " wants a value",
                       "write " + std::string(name) + " " + std::string(flag->value));
        value = words_.front();
        words_ = words_.subspan(1);
      }
      if (value->empty()) return usage(quoted(name) + " was given an empty value", help_of(verb));
    }
    if (!flag->repeatable && parsed_.has(flag->name))
      return usage(quoted(name) + " was given twice", "give it once");
    parsed_.flags.emplace_back(flag, value.value_or(std::string_view()));
    return {};
  }

  Status check_operands() {
    const Verb& verb = *parsed_.verb;
    const auto& operands = parsed_.operands;
    switch (verb.operands) {
      case Operands::none:
        if (!operands.empty())
          return usage("`hallmark " + std::string(verb.name) + "` does not take " + quoted(operands.front()),
                       help_of(verb));
        break;
      case Operands::any:
        if (std::find(operands.begin(), operands.end(), std::string_view()) != operands.end())
          return usage("an empty " + std::string(verb.operand) + " was given", help_of(verb));
        break;
      case Operands::one:
        if (operands.size() != 1)
          return usage("`hallmark " + std::string(verb.name) + "` wants one " + std::string(verb.operand),
                       help_of(verb));
        if (!verb.choices.empty() &&
            std::find(verb.choices.begin(), verb.choices.end(), operands.front()) == verb.choices.end()) {
          std::string known;
          for (const std::string_view choice : verb.choices)
            known += (known.empty() ? "" : ", ") + std::string(choice);
          return usage(quoted(operands.front()) + " is not known", "use one of " + known);
        }
        break;
      case Operands::verb:
        if (!operands.empty()) {
          std::span<const std::string_view> rest = operands;
          HALLMARK_TRY(parsed_.topic, take_verb(rest));
          if (!rest.empty())
            return usage("`hallmark " + std::string(verb.name) + "` does not take " + quoted(rest.front()),
                         help_of(verb));
        }
        break;
      case Operands::command:
        if (operands.empty() || operands.front().empty())
          return usage("no command was given",
                       "write it behind --, as in: hallmark " + std::string(verb.name) + " -- CMD...");
        break;
    }
    return {};
  }

  std::span<const std::string_view> words_;
  Parsed parsed_;
};

}  // namespace

bool Parsed::has(std::string_view flag) const {
  return std::any_of(flags.begin(), flags.end(),
                     [&](const auto& given) { return given.first->name == flag; });
}

std::string_view Parsed::value(std::string_view flag) const {
  std::string_view found;
  for (const auto& [given, value] : flags)
    if (given->name == flag) found = value;
  return found;
}

std::vector<std::string> Parsed::values(std::string_view flag) const {
  std::vector<std::string> found;
  for (const auto& [given, value] : flags)
    if (given->name == flag) found.emplace_back(value);
  return found;
}

Result<Parsed> parse(std::span<const std::string_view> words) {
  HALLMARK_TRY(const Verb* verb, take_verb(words));
  return Parser(*verb, words).parse();
}

}  // namespace hallmark::cli
