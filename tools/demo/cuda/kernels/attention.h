// The library's interface: enough for a caller, no CUTLASS type.
#pragma once

#include <cstdint>

namespace attention {

enum class Type { f16, bf16, f32 };

struct Problem {
  Type type;
  const void* query;  // [batch, queries, heads, head_size]
  const void* key;    // [batch, keys, heads, head_size]
  const void* value;
  void* output;
  std::int32_t batch, queries, keys, heads, head_size;
  float scale;
  bool causal;
};

/// False if no kernel was built for this problem, or the launch failed.
__attribute__((visibility("default"))) bool forward(const Problem& problem, void* stream);

struct Projection {
  const void* input;   // [rows, inner], f16
  const void* weight;  // [columns, inner], f16
  void* output;        // [rows, columns], f16
  std::int32_t rows, columns, inner;
};
__attribute__((visibility("default"))) bool project(const Projection& projection, void* stream);
__attribute__((visibility("default"))) bool project_gelu(const Projection& projection, void* stream);

bool forward_f16_64(const Problem&, void* stream);
bool forward_f16_128(const Problem&, void* stream);
bool forward_bf16_64(const Problem&, void* stream);
bool forward_f32_64(const Problem&, void* stream);

}  // namespace attention
