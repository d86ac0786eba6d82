// What attention is, in float64 and in the plainest way, and how far from it a right kernel may be.
//
// The bounds follow from the formulas of attention.h by first-order error analysis, element by element; 1 % covers
// the terms of second order. Notation: u is 2^-24, half the spacing of f32 at 1. A sum of n products in f32, in any
// order, is off by at most g(n) times the sum of their magnitudes, with g(n) = 2 n u: twice the usual bound, since
// tensor cores cut off where they add.
//
//   scores    e_S  = g(head_dim + 4) max_j scale sum_c |Q_ic K_jc|, plus 8 u (max_j |S_ij| + |LSE_i|)
//   P         e_P  = e_S + e_exp, relative; e_exp = 2^-20 for one exponential with what surrounds it
//   forward   |dO| <= (2 e_S + 2 e_exp (1 + seqlen_k / 16) + 2 g(seqlen_k) + f) sum_j P_ij |V_jc|
//                     + t sum_j |V_jc| + s |O_ic|; the factor seqlen_k / 16: online softmax rescales at each tile
//   LSE       |dLSE| <= e_S + e_exp (1 + seqlen_k / 16) + g(seqlen_k)
//   D         e_D  = (g(head_dim) + s) sum_c |dO_ic O_ic|, since O comes rounded
//   dS        e_dS = (P_ij (e_P + 4 u) + w) (|dP_ij| + |D_i|) + P_ij (g(head_dim) sum_c |dO_ic V_jc| + e_D)
//                    + f |dS_ij| + t
//   dV        sum_i (P_ij (e_P + f + g(n)) + t) |dO_ic| + s |dV_jc|, n: all queries of the heads that share j
//   dQ, dK    scale sum (e_dS + g(n) |dS_ij|) |K_jc| + s |dQ_ic|; likewise dK with Q
//
// s is the unit roundoff of the dtype as results are stored, f that of the dtype where P and dS are factors of a
// product on tensor cores (0 elsewhere). What is too small is lost: w = 2^-125 of an exponential (below 2^-126 it is
// 0), t of a factor: half the smallest f16, 2^-25, where it is one on tensor cores, else w.
#pragma once

#include <cstddef>
#include <vector>

#include "attention/attention.h"

namespace attention_test {

struct Precision {
  double stored = 0;          ///< s
  double stored_nearest = 0;  ///< the same for what the test itself rounds, to nearest
  double smallest = 0;        ///< half of the smallest number that can be stored
  double factor = 0;          ///< f
  double factor_smallest = 0;  ///< t
};

/// Of results of a kernel that uses tensor cores or not.
Precision precision_of(attention_dtype dtype, bool tensor_cores, bool truncates_bf16);

/// A tensor and how far from it each element may be.
struct Expected {
  std::vector<double> value;
  std::vector<double> bound;
};

struct Inputs {
  std::vector<double> q;
  std::vector<double> k;
  std::vector<double> v;
  std::vector<double> d_o;
};

struct Reference {
  Expected o;
  Expected lse;
  Expected dq;
  Expected dk;
  Expected dv;
};

Reference reference_of(const attention_problem& problem, const Inputs& inputs, const Precision& precision);

}  // namespace attention_test
