#include "app/attestation.h"

#include <openssl/evp.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/path.h"

namespace hallmark::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kStatement = "https://in-toto.io/Statement/v1";
constexpr const char* kProvenance = "https://slsa.dev/provenance/v1";
constexpr const char* kBuildType = "urn:hallmark:run:v1";
constexpr const char* kBuilder = "urn:hallmark:local";
constexpr const char* kChainMediaType = "application/vnd.hallmark.chain.v1+zstd";
/// Stands for the root while leaves are named.
constexpr const char* kTree = "/tree";

Error corrupt(std::string_view what) {
  return Error{ErrorKind::corrupt, "the attestation " + std::string(what), {}};
}

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), as_bytes(bytes).data(),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), as_bytes(text).data(),
                                   static_cast<int>(text.size()));
  if (size < 0 || static_cast<std::size_t>(size) != bytes.size()) return std::nullopt;
  // It counts the padding as zeros.
  const auto padding = std::min<std::size_t>(text.size() - 1 - text.find_last_not_of('='), 2);
  bytes.resize(bytes.size() - padding);
  return bytes;
}

/// RFC 3986: all but unreserved characters and slashes is escaped.
std::string uri_path(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string text;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kPlain.find(c) != std::string_view::npos;
    if (plain) {
      text += c;
    } else {
      text.append(1, '%').append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    }
  }
  return text;
}

/// Tokens as people write them: <R>/src/a.cpp.
std::string shown(std::string text) {
  std::replace(text.begin(), text.end(), '\x01', '<');
  std::replace(text.begin(), text.end(), '\x02', '>');
  return text;
}

Json digest_json(const digest::Sha256& hash) {
  return {{"sha256", to_hex(hash)}};
}

Json dependencies_json(const prove::Chain& chain) {
  Json list = Json::array();
  for (const auto& leaf : leaves_of(chain, kTree)) {
    const auto uri = leaf.in_tree ? "hallmark-tree:" + uri_path(path::relative_below(leaf.path, kTree))
                                  : "file://" + uri_path(leaf.path);
    list.push_back({{"uri", uri}, {"digest", digest_json(leaf.content.hash)}});
  }
  return list;
}

Json definition_json(const prove::Chain& chain) {
  const auto& own = chain.steps.front();
  const auto& command = own.derivation.command;
  Json words = Json::array();
  for (const auto& word : command.argv) words.push_back(shown(word));
  return {{"buildType", kBuildType},
          {"externalParameters", {{"command", std::move(words)}, {"workingFolder", shown(command.cwd)}}},
          {"internalParameters",
           {{"strongKey", own.strong.hex()}, {"inputs", prove::inputs_key(own.derivation).hex()}}},
          {"resolvedDependencies", dependencies_json(chain)}};
}

/// nullptr if it is not there.
const Json* member(const Json* value, const char* name) {
  if (value == nullptr || !value->is_object()) return nullptr;
  const auto found = value->find(name);
  return found == value->end() ? nullptr : &*found;
}

const Json* first(const Json* list) {
  return list != nullptr && list->is_array() && !list->empty() ? &list->front() : nullptr;
}

std::string_view text(const Json* value) {
  return value != nullptr && value->is_string() ? std::string_view(value->get_ref<const std::string&>())
                                                : std::string_view();
}

std::optional<digest::Sha256> sha256_of(const Json* descriptor) {
  return digest::parse_hex(text(member(member(descriptor, "digest"), "sha256")));
}

/// The by-product that holds the chain.
const Json* find_chain(const Json* predicate) {
  const Json* list = member(member(predicate, "runDetails"), "byproducts");
  if (list == nullptr || !list->is_array()) return nullptr;
  const auto found = std::find_if(list->begin(), list->end(), [](const Json& each) {
    return text(member(&each, "mediaType")) == kChainMediaType;
  });
  return found == list->end() ? nullptr : &*found;
}

}  // namespace

Result<std::string> to_json(const Attestation& attestation) {
  HALLMARK_TRY(const auto encoded, prove::encode(attestation.chain));
  HALLMARK_TRY(const auto frame, prove::pack_chain(encoded));
  const Json chain = {{"name", "chain"},
                      {"mediaType", kChainMediaType},
                      {"digest", digest_json(digest::digest_of(frame).hash)},
                      {"content", base64(frame)}};
  const Json statement = {
      {"_type", kStatement},
      {"subject", Json::array({{{"name", attestation.name}, {"digest", digest_json(attestation.content)}}})},
      {"predicateType", kProvenance},
      {"predicate",
       {{"buildDefinition", definition_json(attestation.chain)},
        {"runDetails", {{"builder", {{"id", kBuilder}}}, {"byproducts", Json::array({chain})}}}}}};
  return statement.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Attestation> parse_attestation(std::string_view json) {
  // The dependencies are for others: the chain has them. They are most of the text.
  const auto is_wanted = [](int, Json::parse_event_t event, const Json& value) {
    return event != Json::parse_event_t::key || value != "resolvedDependencies";
  };
  const Json statement = Json::parse(json, is_wanted, false);
  if (statement.is_discarded() || !statement.is_object()) return fail(corrupt("is no JSON object"));
  const Json* predicate = member(&statement, "predicate");
  if (text(member(&statement, "_type")) != kStatement ||
      text(member(&statement, "predicateType")) != kProvenance ||
      text(member(member(predicate, "buildDefinition"), "buildType")) != kBuildType)
    return fail(Error{ErrorKind::unsupported, "the attestation is not one of hallmark's", {}});
  const Json* subject = first(member(&statement, "subject"));
  const auto content = sha256_of(subject);
  if (!content) return fail(corrupt("does not say of what bytes it speaks"));
  const Json* chain = find_chain(predicate);
  const auto frame = from_base64(text(member(chain, "content")));
  if (!frame || sha256_of(chain) != digest::digest_of(*frame).hash)
    return fail(corrupt("holds no chain of steps, or a damaged one"));
  HALLMARK_TRY(const auto encoded, prove::unpack_chain(*frame));
  Attestation attestation{std::string(text(member(subject, "name"))), *content, {}};
  HALLMARK_TRY(attestation.chain, prove::decode_chain(encoded));
  return attestation;
}

}  // namespace hallmark::app
