#include "forward.h"

namespace attention {
void forward_f64(const double* query, const double* key, const double* value, double* output,
                 std::ptrdiff_t queries, std::ptrdiff_t keys, std::ptrdiff_t head_size, double scale) {
  forward(query, key, value, output, queries, keys, head_size, scale);
}
}  // namespace attention
