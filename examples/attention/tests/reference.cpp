#include "reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attention_test {
namespace {

constexpr double kUnit = 0x1p-24;
constexpr double kExponential = 0x1p-20;
constexpr double kLostExponential = 0x1p-125;
constexpr double kSecondOrder = 1.01;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double sum_error(double terms) { return 2 * terms * kUnit; }

/// One query head, with views of the tensors that it reads and adds to.
class Head {
 public:
  Head(const attention_problem& problem, const Inputs& inputs, const Precision& precision, Reference& reference,
       int item, int head)
      : p_(problem), in_(inputs), precision_(precision), out_(reference), item_(item), head_(head),
        scale_(problem.scale > 0 ? problem.scale : 1 / std::sqrt(double(problem.head_dim))),
        shared_queries_(double(problem.seqlen_q) * (problem.heads / problem.heads_kv)) {}

  void run() {
    for (int i = 0; i < p_.seqlen_q; ++i) {
      const int seen = std::max(0, p_.causal != 0 ? std::min(p_.seqlen_k, i + p_.seqlen_k - p_.seqlen_q + 1)
                                                  : p_.seqlen_k);
      forward(i, seen);
      backward(i, seen);
    }
  }

 private:
  std::size_t query_at(int i) const {
    return ((std::size_t(item_) * p_.seqlen_q + i) * p_.heads + head_) * p_.head_dim;
  }
  std::size_t key_at(int j) const {
    return ((std::size_t(item_) * p_.seqlen_k + j) * p_.heads_kv + head_ / (p_.heads / p_.heads_kv)) * p_.head_dim;
  }
  std::size_t row_at(int i) const { return (std::size_t(item_) * p_.heads + head_) * p_.seqlen_q + i; }

  void forward(int i, int seen) {
    const double* q = &in_.q[query_at(i)];
    s_.assign(seen, 0);
    double products = 0;
    double largest = -kInfinity;
    double most = 0;
    for (int j = 0; j < seen; ++j) {
      const double* k = &in_.k[key_at(j)];
      double magnitude = 0;
      for (int c = 0; c < p_.head_dim; ++c) s_[j] += scale_ * q[c] * k[c], magnitude += scale_ * std::abs(q[c] * k[c]);
      products = std::max(products, magnitude);
      largest = std::max(largest, s_[j]);
      most = std::max(most, std::abs(s_[j]));
    }
    double sum = 0;
    for (const double s : s_) sum += std::exp(s - largest);
    lse_ = seen > 0 ? largest + std::log(sum) : -kInfinity;
    score_error_ = seen > 0 ? sum_error(p_.head_dim + 4) * products + 8 * kUnit * (most + std::abs(lse_)) : 0;

    const double steps = 1 + p_.seqlen_k / 16.0;
    out_.lse.value[row_at(i)] = lse_;
    out_.lse.bound[row_at(i)] =
        seen > 0 ? kSecondOrder * (score_error_ + kExponential * steps + sum_error(p_.seqlen_k)) : 0;
    const double relative =
        2 * score_error_ + 2 * kExponential * steps + 2 * sum_error(p_.seqlen_k) + precision_.factor;
    for (int c = 0; c < p_.head_dim; ++c) {
      double o = 0;
      double weighted = 0;
      double plain = 0;
      for (int j = 0; j < seen; ++j) {
        const double v = in_.v[key_at(j) + c];
        const double p = std::exp(s_[j] - lse_);
        o += p * v;
        weighted += p * std::abs(v);
        plain += std::abs(v);
      }
      out_.o.value[query_at(i) + c] = o;
      out_.o.bound[query_at(i) + c] =
          seen == 0 ? 0
                    : kSecondOrder * (relative * weighted + precision_.factor_smallest * plain +
                                      precision_.stored * std::abs(o)) +
                          precision_.smallest;
    }
  }

  void backward(int i, int seen) {
    const auto& f = precision_;
    const double* d_o = &in_.d_o[query_at(i)];
    const double* o = &out_.o.value[query_at(i)];
    double delta = 0;
    double delta_magnitude = 0;
    for (int c = 0; c < p_.head_dim; ++c) delta += d_o[c] * o[c], delta_magnitude += std::abs(d_o[c] * o[c]);
    const double delta_error =
        (sum_error(p_.head_dim) + f.stored_nearest) * delta_magnitude + f.smallest * p_.head_dim;
    const double p_error = score_error_ + kExponential;
    for (int j = 0; j < seen; ++j) {
      const double* v = &in_.v[key_at(j)];
      const double p = std::exp(s_[j] - lse_);
      double dp = 0;
      double dp_magnitude = 0;
      for (int c = 0; c < p_.head_dim; ++c) dp += d_o[c] * v[c], dp_magnitude += std::abs(d_o[c] * v[c]);
      const double ds = p * (dp - delta);
      const double ds_error = (p * (p_error + 4 * kUnit) + kLostExponential) * (std::abs(dp) + std::abs(delta)) +
                              p * (sum_error(p_.head_dim) * dp_magnitude + delta_error) +
                              f.factor * std::abs(ds) + f.factor_smallest;
      const double p_factor_error = p * (p_error + f.factor + sum_error(shared_queries_)) + f.factor_smallest;
      for (int c = 0; c < p_.head_dim; ++c) {
        const double k = in_.k[key_at(j) + c];
        const double q = in_.q[query_at(i) + c];
        out_.dv.value[key_at(j) + c] += p * d_o[c];
        out_.dv.bound[key_at(j) + c] += p_factor_error * std::abs(d_o[c]);
        out_.dk.value[key_at(j) + c] += scale_ * ds * q;
        out_.dk.bound[key_at(j) + c] += scale_ * (ds_error + sum_error(shared_queries_) * std::abs(ds)) * std::abs(q);
        out_.dq.value[query_at(i) + c] += scale_ * ds * k;
        out_.dq.bound[query_at(i) + c] += scale_ * (ds_error + sum_error(p_.seqlen_k) * std::abs(ds)) * std::abs(k);
      }
    }
  }

  const attention_problem& p_;
  const Inputs& in_;
  const Precision& precision_;
  Reference& out_;
  int item_;
  int head_;
  double scale_;
  double shared_queries_;
  std::vector<double> s_;  // of the query at hand
  double lse_ = 0;
  double score_error_ = 0;
};

void allow_storing(Expected& expected, const Precision& precision) {
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    double& bound = expected.bound[i];
    if (bound == 0) continue;  // exactly 0: no query or no key had a part in it
    bound = kSecondOrder * (bound + precision.stored * std::abs(expected.value[i])) + precision.smallest;
  }
}

}  // namespace

Precision precision_of(attention_dtype dtype, bool tensor_cores, bool truncates_bf16) {
  Precision p;
  p.stored_nearest = dtype == ATTENTION_F32 ? 0x1p-24 : dtype == ATTENTION_F16 ? 0x1p-11 : 0x1p-8;
  p.stored = dtype == ATTENTION_BF16 && truncates_bf16 ? 0x1p-7 : p.stored_nearest;
  p.smallest = dtype == ATTENTION_F16 ? 0x1p-25 : 0x1p-126;
  p.factor = tensor_cores ? p.stored_nearest : 0;
  p.factor_smallest = tensor_cores && dtype == ATTENTION_F16 ? 0x1p-25 : kLostExponential;
  return p;
}

Reference reference_of(const attention_problem& problem, const Inputs& inputs, const Precision& precision) {
  Reference reference;
  for (auto* of_queries : {&reference.o, &reference.dq})
    of_queries->value.resize(inputs.q.size()), of_queries->bound.resize(inputs.q.size());
  for (auto* of_keys : {&reference.dk, &reference.dv})
    of_keys->value.resize(inputs.k.size()), of_keys->bound.resize(inputs.k.size());
  const auto rows = std::size_t(problem.batch) * problem.heads * problem.seqlen_q;
  reference.lse.value.resize(rows);
  reference.lse.bound.resize(rows);
  for (int item = 0; item < problem.batch; ++item)
    for (int head = 0; head < problem.heads; ++head) Head(problem, inputs, precision, reference, item, head).run();
  for (auto* gradient : {&reference.dq, &reference.dk, &reference.dv}) allow_storing(*gradient, precision);
  return reference;
}

}  // namespace attention_test
