/// Fused attention: softmax(scale * Q K^T) V and its gradients, without a matrix of seqlen_q x seqlen_k in memory.
///
/// The method is that of FlashAttention-2 (T. Dao, "FlashAttention-2: Faster Attention with Better Parallelism and
/// Work Partitioning", 2023, algorithms 1 and 2). With i a query, j a key, c a column of the head:
///
///     S_ij  = scale * sum_c Q_ic K_jc                 only for keys that i may see, see attention_problem.causal
///     LSE_i = log sum_j exp(S_ij)                     natural logarithm; -infinity for a query that sees no key
///     P_ij  = exp(S_ij - LSE_i)
///     O_ic  = sum_j P_ij V_jc                         0 for a query that sees no key
///
///     D_i   = sum_c dO_ic O_ic
///     dV_jc = sum_i P_ij dO_ic
///     dS_ij = P_ij * (sum_c dO_ic V_jc - D_i)
///     dQ_ic = scale * sum_j dS_ij K_jc
///     dK_jc = scale * sum_i dS_ij Q_ic
///
/// With fewer heads of K and V than of Q (GQA; one: MQA), query head h reads KV head h / (heads / heads_kv), and dK
/// and dV are summed over the query heads that share it.
///
/// Layouts, all contiguous, last index fastest:
///     q, o, dq, d_o   [batch, seqlen_q, heads, head_dim]      of attention_problem.dtype
///     k, v, dk, dv    [batch, seqlen_k, heads_kv, head_dim]   of attention_problem.dtype
///     lse             [batch, heads, seqlen_q]                float
/// All pointers are aligned to 16 bytes; workspace to 256. Outputs overlap no input and no other output.
///
/// Every function may be called from several threads at once; calls that run at the same time need workspaces of
/// their own. Nothing here throws, allocates device memory or synchronizes a device.
#ifndef ATTENTION_ATTENTION_H
#define ATTENTION_ATTENTION_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum attention_dtype {
  ATTENTION_F32 = 0,
  ATTENTION_F16 = 1,
  ATTENTION_BF16 = 2 /* how f32 becomes bf16 is an option of the build: attention_bf16_rounding() */
} attention_dtype;

typedef enum attention_backend {
  ATTENTION_CPU = 0,  /* pointers are the process's own; the call returns when the result is there */
  ATTENTION_CUDA = 1, /* pointers are those of the current device; the call returns when the work is enqueued */
  ATTENTION_HIP = 2   /* likewise */
} attention_backend;

typedef enum attention_direction { ATTENTION_FORWARD = 0, ATTENTION_BACKWARD = 1 } attention_direction;

typedef enum attention_status {
  ATTENTION_OK = 0,
  ATTENTION_INVALID_ARGUMENT = 1,    /* a null pointer, a size below 1, heads no multiple of heads_kv, ... */
  ATTENTION_NOT_BUILT = 2,           /* this library holds no kernel for it; the message names those it holds */
  ATTENTION_NO_DEVICE = 3,           /* no device of the backend, or none that the built kernels run on */
  ATTENTION_WORKSPACE_TOO_SMALL = 4, /* see attention_workspace_bytes() */
  ATTENTION_SHARED_MEMORY = 5,       /* the kernel wants more shared memory than a block of this device may have */
  ATTENTION_DEVICE_ERROR = 6         /* the device's runtime refused; the message is the runtime's */
} attention_status;

typedef struct attention_problem {
  attention_dtype dtype; /* of all tensors but lse. Sums and softmax are in f32 whatever it is. */
  int batch;             /* >= 1; on a GPU <= 65535 */
  int heads;             /* >= 1, a multiple of heads_kv; on a GPU <= 65535 */
  int heads_kv;          /* >= 1 */
  int seqlen_q;          /* >= 1 */
  int seqlen_k;          /* >= 1 */
  int head_dim;          /* 64 or 128 */
  int causal;            /* not 0: query i sees key j if j <= i + seqlen_k - seqlen_q (aligned bottom right). If
                            seqlen_q > seqlen_k, the first seqlen_q - seqlen_k queries see no key. */
  float scale;           /* > 0 and finite; 0 means 1 / sqrt(head_dim) */
} attention_problem;

/// How to run it. All zero is: CPU, all cores, best arch, no workspace, atomics allowed.
typedef struct attention_execution {
  attention_backend backend;
  int deterministic; /* not 0: backward gives the same bits each time. Forward, and the CPU, always do. */
  int threads;       /* CPU: at most so many, the caller's included; 0: one for each core. Changes no bit. */
  const char* arch;  /* which of the built archs, as attention_variants() spells it; NULL: the best that runs */
  void* stream;      /* CUDA: a cudaStream_t, HIP: a hipStream_t; NULL: the default stream */
  void* workspace;   /* in the backend's memory, in use until the work is done; its content does not matter */
  size_t workspace_bytes;
} attention_execution;

/// What attention_forward() or attention_backward() will want as workspace, in bytes; forward wants none.
/// Depends on the problem, the backend and `deterministic`, not on the device. Errors: INVALID_ARGUMENT.
attention_status attention_workspace_bytes(const attention_problem* problem, const attention_execution* execution,
                                           attention_direction direction, size_t* bytes);

/// OK if a kernel for it is built and there is a device for it; starts nothing. Errors: as the call itself.
attention_status attention_supports(const attention_problem* problem, const attention_execution* execution,
                                    attention_direction direction);

/// Writes `o` and `lse` (each element).
attention_status attention_forward(const attention_problem* problem, const void* q, const void* k, const void* v,
                                   void* o, float* lse, const attention_execution* execution);

/// Writes `dq`, `dk` and `dv` (each element) from `d_o`, the gradient at O; `o` and `lse` are what forward gave.
attention_status attention_backward(const attention_problem* problem, const void* q, const void* k, const void* v,
                                    const void* o, const float* lse, const void* d_o, void* dq, void* dk, void* dv,
                                    const attention_execution* execution);

/// What went wrong in the last call of this thread that failed: what, why, what to do, in one line. Valid until the
/// next failure in this thread.
const char* attention_last_error(void);

/// The kernels that this library was built with, one a line: "forward_mma cuda sm_90 bf16 128 causal".
const char* attention_variants(void);

/// "rne" (to nearest, ties to even) or "truncate": how results are stored as bf16.
const char* attention_bf16_rounding(void);

#ifdef __cplusplus
}  // extern "C"

// The same under a namespace that the build may choose, so that two builds can live in one process. Who renames
// it in the manifest defines ATTENTION_NAMESPACE before this header.
#ifndef ATTENTION_NAMESPACE
#define ATTENTION_NAMESPACE attention
#endif

namespace ATTENTION_NAMESPACE {

using Problem = attention_problem;
using Execution = attention_execution;
using Direction = attention_direction;
using Status = attention_status;

Status workspace_bytes(const Problem& problem, const Execution& execution, Direction direction, size_t& bytes);
Status supports(const Problem& problem, const Execution& execution, Direction direction);
Status forward(const Problem& problem, const void* q, const void* k, const void* v, void* o, float* lse,
               const Execution& execution);
Status backward(const Problem& problem, const void* q, const void* k, const void* v, const void* o,
                const float* lse, const void* d_o, void* dq, void* dk, void* dv, const Execution& execution);

}  // namespace ATTENTION_NAMESPACE
#endif

#endif  // ATTENTION_ATTENTION_H
