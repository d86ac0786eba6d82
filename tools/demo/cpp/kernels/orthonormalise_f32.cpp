#include <Eigen/QR>

#include "attention.h"

namespace attention {
void orthonormalise_f32(float* matrix, std::ptrdiff_t rows, std::ptrdiff_t columns) {
  Eigen::Map<Eigen::MatrixXf> m(matrix, rows, columns);
  const Eigen::HouseholderQR<Eigen::MatrixXf> factors(m);
  m = factors.householderQ() * Eigen::MatrixXf::Identity(rows, columns);
}
}  // namespace attention
