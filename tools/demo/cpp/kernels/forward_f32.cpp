#include "forward.h"

namespace attention {
void forward_f32(const float* query, const float* key, const float* value, float* output,
                 std::ptrdiff_t queries, std::ptrdiff_t keys, std::ptrdiff_t head_size, float scale) {
  forward(query, key, value, output, queries, keys, head_size, scale);
}
}  // namespace attention
