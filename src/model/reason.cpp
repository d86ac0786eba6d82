#include "model/reason.h"

#include "base/format.h"

namespace hallmark::model {
namespace {

/// Values longer than this are cut in a sentence; `--json` shows them whole.
constexpr std::size_t kShownValueBytes = 120;

std::string quoted(std::string_view value) {
  if (value == kUnset) return "unset";
  std::string text = "\"";
  for (const char c : value.substr(0, kShownValueBytes)) {
    if (c == '"' || c == '\\') {
      text.push_back('\\');
      text.push_back(c);
    } else if (c == '\n') {
      text += "\\n";
    } else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      text += formatted("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      text.push_back(c);
    }
  }
  if (value.size() > kShownValueBytes) text += "...";
  text.push_back('"');
  return text;
}

/// "X changed from "a" to "b"", or "X changed" where no value is known.
std::string changed(std::string_view what, const Reason& reason) {
  if (reason.before.empty() && reason.after.empty()) return formatted("{} changed", what);
  return formatted("{} changed from {} to {}", what, quoted(reason.before), quoted(reason.after));
}

/// `text`, and the detail behind a colon if there is one.
std::string with_detail(std::string text, std::string_view detail) {
  if (!detail.empty()) text.append(": ").append(detail);
  return text;
}

std::string argument_sentence(const Reason& r) {
  if (r.before == kUnset) return formatted("argument {} is new: {}", r.subject, quoted(r.after));
  if (r.after == kUnset) return formatted("argument {} is gone: it was {}", r.subject, quoted(r.before));
  return changed(formatted("argument {}", r.subject), r);
}

std::string stream_sentence(const Reason& r) {
  if (r.subject != "merged") return changed(formatted("what {} is connected to", r.subject), r);
  return r.after == "yes" ? "stdout and stderr were two streams and are one now"
                          : "stdout and stderr were one stream and are two now";
}

std::string machine_sentence(const Reason& r) {
  if (r.subject == "cpu") return changed("the processor's feature set", r);
  if (r.subject == "gpu") return changed("the GPU", r);
  if (r.subject == "date") return changed("the date, which a source text asks for,", r);
  return changed(formatted("the machine's {}", r.subject), r);
}

}  // namespace

std::string_view name_of(ReasonCode code) {
  switch (code) {
#define HALLMARK_CODE(name) \
  case ReasonCode::name:    \
    return #name
    HALLMARK_CODE(first_run);
    HALLMARK_CODE(argument_changed);
    HALLMARK_CODE(variable_changed);
    HALLMARK_CODE(working_folder_changed);
    HALLMARK_CODE(stream_changed);
    HALLMARK_CODE(content_changed);
    HALLMARK_CODE(appeared);
    HALLMARK_CODE(vanished);
    HALLMARK_CODE(kind_changed);
    HALLMARK_CODE(listing_changed);
    HALLMARK_CODE(link_changed);
    HALLMARK_CODE(program_changed);
    HALLMARK_CODE(loader_changed);
    HALLMARK_CODE(attribute_changed);
    HALLMARK_CODE(bound_value_changed);
    HALLMARK_CODE(machine_changed);
    HALLMARK_CODE(stdin_changed);
    HALLMARK_CODE(record_unreadable);
    HALLMARK_CODE(outputs_in_the_way);
    HALLMARK_CODE(record_missing);
    HALLMARK_CODE(disabled);
    HALLMARK_CODE(not_cacheable_kind);
    HALLMARK_CODE(command_failed);
    HALLMARK_CODE(not_observed);
    HALLMARK_CODE(observation_lost);
    HALLMARK_CODE(network_used);
    HALLMARK_CODE(survivor);
    HALLMARK_CODE(input_changed);
    HALLMARK_CODE(input_racy);
    HALLMARK_CODE(write_in_place);
    HALLMARK_CODE(write_elsewhere);
    HALLMARK_CODE(removed_foreign);
    HALLMARK_CODE(stdin_unbounded);
    HALLMARK_CODE(inherited_descriptor);
    HALLMARK_CODE(privileged);
    HALLMARK_CODE(foreign_cache);
    HALLMARK_CODE(limit_reached);
    HALLMARK_CODE(foreign_architecture);
    HALLMARK_CODE(stream_too_long);
    HALLMARK_CODE(unreadable_process);
    HALLMARK_CODE(volatile_input);
    HALLMARK_CODE(special_output);
    HALLMARK_CODE(store_unusable);
    HALLMARK_CODE(clock_used);
    HALLMARK_CODE(timestamp_read);
    HALLMARK_CODE(output_undelivered);
    HALLMARK_CODE(linked_file_changed);
    HALLMARK_CODE(channel_used);
    HALLMARK_CODE(replayed);
    HALLMARK_CODE(published);
    HALLMARK_CODE(nondeterministic);
    HALLMARK_CODE(waited);
    HALLMARK_CODE(ccache_bypassed);
    HALLMARK_CODE(tier_degraded);
    HALLMARK_CODE(newer_than_output);
    HALLMARK_CODE(command_not_run);
#undef HALLMARK_CODE
  }
  return "unknown";
}

std::string sentence(const Reason& r) {
  const std::string& s = r.subject;
  switch (r.code) {
    case ReasonCode::first_run:
      return "no earlier run of this command is known";
    case ReasonCode::argument_changed:
      return argument_sentence(r);
    case ReasonCode::variable_changed:
      return changed(s, r);
    case ReasonCode::working_folder_changed:
      return changed("the working folder", r);
    case ReasonCode::stream_changed:
      return stream_sentence(r);
    case ReasonCode::content_changed:
      return formatted("{} changed", s);
    case ReasonCode::appeared:
      return formatted("{} appeared (it was absent)", s);
    case ReasonCode::vanished:
      return formatted("{} is gone (it was there)", s);
    case ReasonCode::kind_changed:
      return changed(formatted("the kind of {}", s), r);
    case ReasonCode::listing_changed:
      return formatted("the names in {} changed", s);
    case ReasonCode::link_changed:
      return changed(formatted("the link {}", s), r);
    case ReasonCode::program_changed:
      return changed(formatted("the program that PATH gives for {}", s), r);
    case ReasonCode::loader_changed:
      return changed(formatted("the library that the loader's cache gives for {}", s), r);
    case ReasonCode::attribute_changed:
      return changed(formatted("size or time of {}", s), r);
    case ReasonCode::bound_value_changed:
      return changed(formatted("{}, which the result contains,", s == "R_NAME" ? "the root's name" : s), r);
    case ReasonCode::machine_changed:
      return machine_sentence(r);
    case ReasonCode::stdin_changed:
      return "the bytes on stdin changed";
    case ReasonCode::record_unreadable:
      return with_detail("the record of an earlier run is damaged", r.before);
    case ReasonCode::outputs_in_the_way:
      return with_detail(formatted("cannot replay {}", s), r.before);
    case ReasonCode::record_missing:
      return "the record of an earlier run was dropped from the store";

    case ReasonCode::disabled:
      return "HALLMARK_DISABLE is set";
    case ReasonCode::not_cacheable_kind:
      return s.empty()
                 ? "not known as a deterministic program, and neither a build edge, --output nor --cache was "
                   "given"
                 : formatted(
                       "{} is not known as a deterministic program, and neither a build edge, --output nor "
                       "--cache was given",
                       s);
    case ReasonCode::command_failed:
      if (!s.empty()) return formatted("the command was killed by {}", s);
      return r.before.empty() ? "the command failed"
                              : formatted("the command failed with status {}", r.before);
    case ReasonCode::not_observed:
      return with_detail("the command could not be observed on this machine", r.before);
    case ReasonCode::observation_lost:
      return with_detail(s.empty() ? std::string("a part of what the command did was not seen")
                                   : formatted("a part of what {} did was not seen", s),
                         r.before);
    case ReasonCode::network_used:
      return s.empty() ? "the command used the network" : formatted("the command used the network: {}", s);
    case ReasonCode::survivor:
      return formatted("{} was still running when the command ended", s.empty() ? "a child process" : s);
    case ReasonCode::input_changed:
      return formatted("{} changed while the command ran", s);
    case ReasonCode::input_racy:
      return formatted("{} was written in the same clock tick in which it was used", s);
    case ReasonCode::write_in_place:
      return formatted("{} was changed in place instead of being made whole", s);
    case ReasonCode::write_elsewhere:
      return formatted("{} was written outside the root, the working folder and --output", s);
    case ReasonCode::removed_foreign:
      return formatted("{} was removed and is no output of the command", s);
    case ReasonCode::stdin_unbounded:
      return with_detail("stdin is a terminal that was read, or too long to keep", r.before);
    case ReasonCode::inherited_descriptor:
      return formatted("the command inherited the open descriptor {}", s);
    case ReasonCode::privileged:
      return formatted("{} is setuid or has file capabilities and cannot be observed", s);
    case ReasonCode::foreign_cache:
      return with_detail(formatted("{} keeps a cache of its own, which hides what the command uses", s),
                         r.after);
    case ReasonCode::limit_reached:
      return with_detail(formatted("the limit {} was reached", s), r.before);
    case ReasonCode::foreign_architecture:
      return formatted("{} uses system calls that are not x86-64's", s.empty() ? "a program" : s);
    case ReasonCode::stream_too_long:
      return formatted("{} is too long to keep", s.empty() ? "the command's output" : s);
    case ReasonCode::unreadable_process:
      return formatted("the memory of {} may not be read", s.empty() ? "a process" : s);
    case ReasonCode::volatile_input:
      return formatted("{} cannot be checked again: its bytes differ at each read", s);
    case ReasonCode::special_output:
      return formatted("{} is a device, socket or fifo, which cannot be kept", s);
    case ReasonCode::store_unusable:
      return with_detail("the store cannot be used", r.before);
    case ReasonCode::clock_used:
      return formatted("{} asks for the time of day (__DATE__, __TIME__ or __TIMESTAMP__)", s);
    case ReasonCode::timestamp_read:
      return formatted("{} looks at modification times", s);
    case ReasonCode::output_undelivered:
      return with_detail(formatted("{} was not delivered whole", s.empty() ? "the command's output" : s),
                         r.before);
    case ReasonCode::linked_file_changed:
      return formatted("{} was changed, and with it the other names that it has (hard links)", s);
    case ReasonCode::channel_used:
      return formatted("the command can share data with other processes that cannot be followed: {}", s);

    case ReasonCode::replayed:
      return "replayed: nothing that the command used has changed";
    case ReasonCode::published:
      return "executed and recorded";
    case ReasonCode::nondeterministic:
      return formatted(
          "{} differs from an earlier run with the same inputs: the command is not deterministic", s);
    case ReasonCode::waited:
      return s.empty() || s == "0"
                 ? "waited for an equal command that was running"
                 : formatted("waited for an equal command that was running (process {})", s);
    case ReasonCode::ccache_bypassed:
      return "ccache stands before the compiler on PATH: it was told to do nothing (CCACHE_DISABLE=1)";
    case ReasonCode::tier_degraded:
      return with_detail(formatted("observed with {} instead of a better way", s), r.before);

    case ReasonCode::newer_than_output:
      return formatted("{} is newer than {} ({} names it)", s, r.before, r.after);
    case ReasonCode::command_not_run:
      return formatted("{} was made by another command than the build's of today", s);
  }
  return with_detail(formatted("reason {}", static_cast<unsigned>(r.code)), s);
}

void encode(digest::Encoder& out, const Reason& reason) {
  out.number(static_cast<std::uint64_t>(reason.code))
      .text(reason.subject)
      .text(reason.before)
      .text(reason.after);
}

Reason decode_reason(digest::Decoder& in) {
  Reason reason;
  const std::uint64_t code = in.number();
  if (code > UINT16_MAX) in.reject();
  // A number of a later hallmark stays as it is: it has no words here, but it is not lost.
  reason.code = static_cast<ReasonCode>(code);
  reason.subject = in.text();
  reason.before = in.text();
  reason.after = in.text();
  return reason;
}

}  // namespace hallmark::model
