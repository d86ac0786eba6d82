// The library's interface.
#pragma once

#include <cstddef>

namespace attention {

/// output = softmax(query key^T scale) value for one head; row-major, one token a row.
void forward_f32(const float* query, const float* key, const float* value, float* output,
                 std::ptrdiff_t queries, std::ptrdiff_t keys, std::ptrdiff_t head_size, float scale);
void forward_f64(const double* query, const double* key, const double* value, double* output,
                 std::ptrdiff_t queries, std::ptrdiff_t keys, std::ptrdiff_t head_size, double scale);

/// output = gelu(input weight^T); row-major.
void project_gelu_f32(const float* input, const float* weight, float* output, std::ptrdiff_t rows,
                      std::ptrdiff_t columns, std::ptrdiff_t inner);

/// Solves matrix x = right for a symmetric positive matrix; false if it is none.
bool solve_f32(const float* matrix, float* right, std::ptrdiff_t size);
bool solve_f64(const double* matrix, double* right, std::ptrdiff_t size);

/// Makes the columns orthonormal.
void orthonormalise_f32(float* matrix, std::ptrdiff_t rows, std::ptrdiff_t columns);

}  // namespace attention
