#include "base/error.h"

#include <cerrno>
#include <cstring>

namespace hallmark {

ErrorKind kind_of_errno(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorKind::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorKind::permission;
    case ENOSPC:
    case EDQUOT:
      return ErrorKind::no_space;
    case ENOSYS:
    case EOPNOTSUPP:
      return ErrorKind::unsupported;
    default:
      return ErrorKind::io;
  }
}

Error Error::from_errno(std::string_view action, std::string_view subject) {
  return from_errno(action, subject, errno);
}

Error Error::from_errno(std::string_view action, std::string_view subject, int error_number) {
  std::string what(action);
  what.append(" ").append(subject).append(": ").append(std::strerror(error_number));
  return Error{kind_of_errno(error_number), std::move(what), {}};
}

std::string Error::message() const {
  return hint.empty() ? what : what + "; " + hint;
}

}  // namespace hallmark
