#include "app/config_cache.h"

#include "base/limits.h"
#include "base/path.h"
#include "digest/encoding.h"

namespace hallmark::app {
namespace {

constexpr std::string_view kMagic = "hallmark-config";
constexpr std::uint64_t kVersion = 1;

void encode(digest::Encoder& out, const std::optional<FileStat>& stat) {
  out.flag(stat.has_value());
  if (!stat) return;
  out.number(stat->device).number(stat->inode).number(stat->size_bytes);
  out.signed_number(stat->mtime_ns).signed_number(stat->ctime_ns);
}

void encode(digest::Encoder& out, const FileSettings& settings) {
  out.flag(settings.store.has_value()).text(settings.store.value_or(""));
  out.number(settings.observe ? static_cast<std::uint64_t>(*settings.observe) : 0);
  out.number(settings.disable ? (*settings.disable ? 2 : 1) : 0);
  out.number(settings.ignore_environment.size());
  for (const std::string& name : settings.ignore_environment) out.text(name);
}

FileSettings decode_settings(digest::Decoder& in) {
  FileSettings settings;
  const bool has_store = in.flag();
  const std::string_view store = in.text();
  if (has_store) settings.store = std::string(store);
  const std::uint64_t tier = in.number();
  if (tier > static_cast<std::uint64_t>(model::Tier::none)) in.reject();
  if (tier != 0) settings.observe = static_cast<model::Tier>(tier);
  const std::uint64_t disable = in.number();
  if (disable > 2) in.reject();
  if (disable != 0) settings.disable = disable == 2;
  const std::size_t names = in.count();
  for (std::size_t i = 0; i < names && in.ok(); ++i) settings.ignore_environment.emplace_back(in.text());
  return settings;
}

std::optional<FileStat> decode_stat(digest::Decoder& in) {
  if (!in.flag()) return std::nullopt;
  FileStat stat;
  stat.device = in.number();
  stat.inode = in.number();
  stat.size_bytes = in.number();
  stat.mtime_ns = in.signed_number();
  stat.ctime_ns = in.signed_number();
  return stat;
}

/// Mode and kind are not kept: a change of either changes ctime.
std::optional<FileStat> signature_part(std::optional<FileStat> stat) {
  if (stat) {
    stat->mode = 0;
    stat->kind = NodeKind::other;
  }
  return stat;
}

}  // namespace

std::string encode(const CompiledConfig& config) {
  digest::Encoder out;
  out.text(kMagic).number(kVersion).text(config.files.user_path).text(config.files.root_path);
  encode(out, config.signature.user);
  encode(out, config.signature.root);
  encode(out, config.files.user);
  encode(out, config.files.root);
  std::string bytes = out.take();
  bytes.append(as_text(digest::digest_of(bytes).hash));
  return bytes;
}

std::optional<CompiledConfig> decode_config(std::string_view bytes) {
  constexpr std::size_t kChecksumBytes = sizeof(digest::Sha256);
  if (bytes.size() < kChecksumBytes) return std::nullopt;
  const std::string_view content = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (as_text(digest::digest_of(content).hash) != bytes.substr(content.size())) return std::nullopt;
  digest::Decoder in(content);
  if (in.text() != kMagic || in.number() != kVersion) return std::nullopt;
  CompiledConfig config;
  config.files.user_path = in.text();
  config.files.root_path = in.text();
  config.signature.user = decode_stat(in);
  config.signature.root = decode_stat(in);
  config.files.user = decode_settings(in);
  config.files.root = decode_settings(in);
  if (!in.finished()) return std::nullopt;
  return config;
}

ConfigFiles config_paths(const model::Environment& environment, std::string_view root) {
  return {user_config_path(environment), root_config_path(root), {}, {}};
}

Result<ConfigSignature> signature_of(os::FileSystem& files, const ConfigFiles& paths) {
  ConfigSignature signature;
  if (!paths.user_path.empty()) {
    HALLMARK_TRY(signature.user, files.stat(paths.user_path));
  }
  HALLMARK_TRY(signature.root, files.stat(paths.root_path));
  return ConfigSignature{signature_part(signature.user), signature_part(signature.root)};
}

std::string config_cache_path(const model::Environment& environment, const ConfigFiles& paths) {
  const std::string folder = standard_store(environment);
  if (folder.empty()) return {};
  digest::Encoder name;
  name.text(paths.user_path).text(paths.root_path);
  return path::join(folder, "config/" + name.key().hex().substr(0, 32));
}

Result<ConfigFiles> load_config(os::FileSystem& files, const model::Environment& environment,
                                std::string_view root, const std::function<Result<std::string>()>& compile) {
  const ConfigFiles paths = config_paths(environment, root);
  HALLMARK_TRY(const ConfigSignature signature, signature_of(files, paths));
  if (!signature.user && !signature.root) return paths;
  const auto usable = [&](const std::optional<CompiledConfig>& config) {
    return config && config->files.user_path == paths.user_path && config->files.root_path == paths.root_path;
  };
  if (const std::string cache = config_cache_path(environment, paths); !cache.empty()) {
    if (const auto bytes = os::read_file(files, cache, limits::kConfigBytes); bytes.has_value()) {
      auto found = decode_config(*bytes);
      if (usable(found) && found->signature == signature) return std::move(found->files);
    }
  }
  HALLMARK_TRY(const std::string compiled, compile());
  auto fresh = decode_config(compiled);
  if (usable(fresh)) return std::move(fresh->files);
  return fail(Error{ErrorKind::corrupt, "the configuration could not be compiled", "run `hallmark config`"});
}

}  // namespace hallmark::app
