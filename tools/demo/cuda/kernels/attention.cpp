#include "attention.h"

namespace attention {

bool forward(const Problem& problem, void* stream) {
  if (problem.head_size <= 64) {
    switch (problem.type) {
      case Type::f16:
        return forward_f16_64(problem, stream);
      case Type::bf16:
        return forward_bf16_64(problem, stream);
      case Type::f32:
        return forward_f32_64(problem, stream);
    }
  }
  return problem.type == Type::f16 && problem.head_size <= 128 && forward_f16_128(problem, stream);
}

}  // namespace attention
