#include <Eigen/Cholesky>

#include "attention.h"

namespace attention {
bool solve_f32(const float* matrix, float* right, std::ptrdiff_t size) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<float, Eigen::Dynamic, 1>;
  const Eigen::LLT<Matrix> factors(Eigen::Map<const Matrix>(matrix, size, size));
  if (factors.info() != Eigen::Success) return false;
  Eigen::Map<Vector> x(right, size);
  factors.solveInPlace(x);
  return true;
}
}  // namespace attention
