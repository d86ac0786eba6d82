// Result<T>: a value or an Error. The one way in which a function of hallmark says that it failed.
//
// Absence is std::optional, a bug is an assertion, a failure is a Result. Exceptions never cross a room.
#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "base/error.h"

namespace hallmark {

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

/// A Result that holds nothing when it succeeded.
using Status = Result<void>;

/// Makes the failed state of any Result: `return fail(Error::from_errno("open", path));`
inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace hallmark

#define HALLMARK_CONCAT_(a, b) a##b
#define HALLMARK_CONCAT(a, b) HALLMARK_CONCAT_(a, b)

/// Evaluates a Result; on failure returns its Error from the enclosing function, else moves the value into
/// `target` (a declaration or an lvalue).
#define HALLMARK_TRY(target, expression) \
  HALLMARK_TRY_(HALLMARK_CONCAT(hallmark_try_, __LINE__), target, expression)
#define HALLMARK_TRY_(name, target, expression)                            \
  auto name = (expression);                                                \
  if (!name.has_value()) return ::hallmark::fail(std::move(name).error()); \
  target = std::move(name).value()

/// The same for a Status.
#define HALLMARK_CHECK(expression)                                         \
  do {                                                                     \
    if (auto hallmark_check_ = (expression); !hallmark_check_.has_value()) \
      return ::hallmark::fail(std::move(hallmark_check_).error());         \
  } while (false)
