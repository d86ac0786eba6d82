// Memory of a backend, for tests: filled with NaN, with a guard behind it that nobody may write.
//
// CUDA and HIP are there if ATTENTION_TEST_CUDA or ATTENTION_TEST_HIP is defined.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "attention/attention.h"

#if defined(ATTENTION_TEST_CUDA)
#include <cuda_runtime_api.h>
#define ATTENTION_RUNTIME(word) cuda##word
#elif defined(ATTENTION_TEST_HIP)
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#define ATTENTION_RUNTIME(word) hip##word
#endif

namespace attention_test {

constexpr bool has_memory_of(attention_backend backend) {
#if defined(ATTENTION_TEST_CUDA)
  return backend == ATTENTION_CPU || backend == ATTENTION_CUDA;
#elif defined(ATTENTION_TEST_HIP)
  return backend == ATTENTION_CPU || backend == ATTENTION_HIP;
#else
  return backend == ATTENTION_CPU;
#endif
}

class Buffer {
 public:
  Buffer(attention_backend backend, const std::vector<std::uint8_t>& content) : Buffer(backend, content.size()) {
    write(content);
  }
  Buffer(attention_backend backend, std::size_t bytes) : on_device_(backend != ATTENTION_CPU), bytes_(bytes) {
    const std::size_t whole = (bytes + kGuard + 255) / 256 * 256;
    if (on_device_) {
#ifdef ATTENTION_RUNTIME
      check(ATTENTION_RUNTIME(Malloc)(&data_, whole));
#endif
    } else {
      data_ = std::aligned_alloc(256, whole);
    }
    if (data_ == nullptr) throw std::runtime_error("no memory of this backend");
    write(std::vector<std::uint8_t>(bytes + kGuard, kFill));
  }
  ~Buffer() {
#ifdef ATTENTION_RUNTIME
    if (on_device_) static_cast<void>(ATTENTION_RUNTIME(Free)(data_));
#endif
    if (!on_device_) std::free(data_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  float* floats() const { return static_cast<float*>(data_); }
  std::size_t bytes() const { return bytes_; }

  void write(const std::vector<std::uint8_t>& from) {
    if (!on_device_) std::memcpy(data_, from.data(), from.size());
#ifdef ATTENTION_RUNTIME
    if (on_device_)
      check(ATTENTION_RUNTIME(Memcpy)(data_, from.data(), from.size(), ATTENTION_RUNTIME(MemcpyHostToDevice)));
#endif
  }

  /// Waits for the device. Throws if the guard was written.
  std::vector<std::uint8_t> read() const {
    std::vector<std::uint8_t> to(bytes_ + kGuard);
    if (!on_device_) std::memcpy(to.data(), data_, to.size());
#ifdef ATTENTION_RUNTIME
    if (on_device_)
      check(ATTENTION_RUNTIME(Memcpy)(to.data(), data_, to.size(), ATTENTION_RUNTIME(MemcpyDeviceToHost)));
#endif
    for (std::size_t i = bytes_; i < to.size(); ++i)
      if (to[i] != kFill) throw std::runtime_error("something was written behind the end of a buffer");
    to.resize(bytes_);
    return to;
  }

 private:
  static constexpr std::size_t kGuard = 1024;
  static constexpr std::uint8_t kFill = 0xff;  ///< NaN in every dtype

#ifdef ATTENTION_RUNTIME
  static void check(ATTENTION_RUNTIME(Error_t) error) {
    if (error != ATTENTION_RUNTIME(Success)) throw std::runtime_error(ATTENTION_RUNTIME(GetErrorString)(error));
  }
#endif

  void* data_ = nullptr;
  bool on_device_;
  std::size_t bytes_;
};

}  // namespace attention_test
