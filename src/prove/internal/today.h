// Today: answers of today to the questions of many steps whose places are the same. Each is found out once.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "digest/content_hasher.h"
#include "engine/environment.h"
#include "engine/ports.h"
#include "engine/states.h"
#include "model/record.h"
#include "os/file_system.h"
#include "prove/internal/sources.h"

namespace hallmark::prove {

/// Has no stdin to show: that of the command is long gone.
class NoStreams final : public engine::Streams {
 public:
  Status write(int, std::string_view) override { return {}; }
  std::optional<digest::Digest> digest_of_stdin(model::StreamKind) override { return std::nullopt; }
  Status feed_back() override { return {}; }
  void skip_stdin(model::StreamKind) override {}
  bool stdin_at_end() override { return true; }
};

class Today {
 public:
  struct Tools {
    os::FileSystem& files;
    digest::ContentHasher& hasher;
    engine::Machine& machine;
    const model::Environment& environment;  ///< gives what is no place: USER and the like
    bool same_user = true;                  ///< as the one who ran the commands
  };

  Today(Tools tools, const model::Places& places);
  Today(const Today&) = delete;
  Today& operator=(const Today&) = delete;

  const engine::Bindings& bindings() const { return bindings_; }
  bool exists(const std::string& path);
  Sources& sources() { return sources_; }

  struct Known {
    model::Answer answer;
    std::optional<std::string> path;  ///< the subject as a path of today
  };
  /// Parallel to the questions; valid as long as this.
  std::vector<const Known*> ask(const model::PathSet& paths);

 private:
  struct HashOfQuestion {
    std::size_t operator()(const model::Question& question) const {
      return std::hash<std::string>{}(question.subject) * 31 + static_cast<std::size_t>(question.aspect);
    }
  };

  os::FileSystem& files_;
  std::unordered_map<std::string, bool> exists_;
  engine::Bindings bindings_;
  Sources sources_;
  model::Command command_;
  NoStreams streams_;
  engine::States states_;
  std::unordered_map<model::Question, Known, HashOfQuestion> known_;
};

}  // namespace hallmark::prove
