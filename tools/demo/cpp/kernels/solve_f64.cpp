#include <Eigen/Cholesky>

#include "attention.h"

namespace attention {
bool solve_f64(const double* matrix, double* right, std::ptrdiff_t size) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1>;
  const Eigen::LLT<Matrix> factors(Eigen::Map<const Matrix>(matrix, size, size));
  if (factors.info() != Eigen::Success) return false;
  Eigen::Map<Vector> x(right, size);
  factors.solveInPlace(x);
  return true;
}
}  // namespace attention
