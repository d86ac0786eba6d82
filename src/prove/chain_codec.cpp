// How a chain stands in an attestation.
#include <zstd.h>

#include <memory>

#include "prove/chain.h"

namespace hallmark::prove {
namespace {

constexpr std::string_view kDomain = "hallmark chain";
constexpr std::uint64_t kSchema = 1;
constexpr int kLevel = 9;
/// Steps of one build read mostly the same: each repeats what stands far behind.
constexpr int kWindowLog = 27;  // the largest that a decoder takes unasked

Error malformed(std::string_view what) {
  return Error{ErrorKind::corrupt, "the chain in the attestation " + std::string(what), {}};
}
Error too_long() {
  return Error{ErrorKind::limit, "the chain from the artifact to its sources is longer than kChainBytes", {}};
}

void put(digest::Encoder& out, const ChainStep& step) {
  out.hash(step.strong.hash).text(model::encode(step.places)).text(model::encode(step.derivation));
  out.number(step.outputs.size());
  for (const auto& output : step.outputs) out.text(output.path).digest(output.content);
  out.number(step.doubts.size());
  for (const auto& doubt : step.doubts) out.text(doubt);
}

Result<ChainStep> get_step(digest::Decoder& in) {
  ChainStep step;
  step.strong.hash = in.hash();
  HALLMARK_TRY(step.places, model::decode_places(in.text()));
  HALLMARK_TRY(step.derivation, model::decode_derivation(in.text()));
  constexpr std::size_t kSmallestOutputBytes = 34;
  const auto outputs = in.count(kSmallestOutputBytes);
  step.outputs.reserve(outputs);
  for (std::size_t i = 0; i < outputs && in.ok(); ++i) {
    ChainOutput output{std::string(in.text()), in.digest()};
    if (!step.outputs.empty() && output <= step.outputs.back()) in.reject();
    step.outputs.push_back(std::move(output));
  }
  const auto doubts = in.count();
  for (std::size_t i = 0; i < doubts && in.ok(); ++i) step.doubts.emplace_back(in.text());
  if (!in.ok()) return fail(malformed("is malformed"));
  return step;
}

struct ContextCloser {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

}  // namespace

Result<std::string> encode(const Chain& chain) {
  digest::Encoder out;
  out.text(kDomain).number(kSchema).number(chain.steps.size());
  for (const auto& step : chain.steps) {
    put(out, step);
    if (out.bytes().size() > kChainBytes) return fail(too_long());
  }
  return out.take();
}

Result<Chain> decode_chain(std::string_view bytes) {
  digest::Decoder in(bytes);
  if (in.text() != kDomain) return fail(malformed("is none"));
  if (in.number() != kSchema)
    return fail(Error{ErrorKind::newer_format, "the attestation was written by another version of hallmark",
                      "use that version"});
  constexpr std::size_t kSmallestStepBytes = 70;
  const auto count = in.count(kSmallestStepBytes);
  Chain chain;
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    HALLMARK_TRY(auto step, get_step(in));
    chain.steps.push_back(std::move(step));
  }
  if (!in.finished() || chain.steps.empty()) return fail(malformed("is malformed"));
  return chain;
}

Result<std::string> pack_chain(std::string_view encoded) {
  const std::unique_ptr<ZSTD_CCtx, ContextCloser> context(ZSTD_createCCtx());
  std::string frame(ZSTD_compressBound(encoded.size()), '\0');
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_enableLongDistanceMatching, 1);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, kWindowLog);
  const auto size = ZSTD_compress2(context.get(), frame.data(), frame.size(), encoded.data(), encoded.size());
  if (ZSTD_isError(size) != 0)
    return fail(Error{ErrorKind::limit, "the chain cannot be packed: there is not enough memory", {}});
  frame.resize(size);
  return frame;
}

Result<std::string> unpack_chain(std::string_view frame) {
  const auto size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
    return fail(malformed("does not unpack"));
  if (size > kChainBytes) return fail(too_long());
  std::string encoded(size, '\0');
  const auto got = ZSTD_decompress(encoded.data(), encoded.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0 || got != size) return fail(malformed("does not unpack"));
  return encoded;
}

}  // namespace hallmark::prove
