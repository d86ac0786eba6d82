#include <Eigen/Core>

#include "attention.h"

namespace attention {
void project_gelu_f32(const float* input, const float* weight, float* output, std::ptrdiff_t rows,
                      std::ptrdiff_t columns, std::ptrdiff_t inner) {
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const RowMajor> x(input, rows, inner);
  const Eigen::Map<const RowMajor> w(weight, columns, inner);
  Eigen::Map<RowMajor> out(output, rows, columns);
  const RowMajor linear = x * w.transpose();
  out = linear.array() * 0.5f *
        (1.0f + (0.79788456f * (linear.array() + 0.044715f * linear.array().cube())).tanh());
}
}  // namespace attention
