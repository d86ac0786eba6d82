// Attention of one head, for any scalar.
#pragma once

#include <Eigen/Core>

#include "attention.h"

namespace attention {

template <class Scalar>
using RowMajor = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Scalar>
void forward(const Scalar* query, const Scalar* key, const Scalar* value, Scalar* output,
             std::ptrdiff_t queries, std::ptrdiff_t keys, std::ptrdiff_t head_size, Scalar scale) {
  const Eigen::Map<const RowMajor<Scalar>> q(query, queries, head_size);
  const Eigen::Map<const RowMajor<Scalar>> k(key, keys, head_size);
  const Eigen::Map<const RowMajor<Scalar>> v(value, keys, head_size);
  Eigen::Map<RowMajor<Scalar>> out(output, queries, head_size);
  RowMajor<Scalar> scores = (q * k.transpose()) * scale;
  scores.colwise() -= scores.rowwise().maxCoeff().eval();
  scores = scores.array().exp().matrix();
  const auto sums = scores.rowwise().sum().eval();
  out.noalias() = sums.cwiseInverse().asDiagonal() * (scores * v);
}

}  // namespace attention
