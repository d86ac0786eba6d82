#include "inspect/device_code.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <cstring>

#include "inspect/archive.h"
#include "inspect/fat_binary.h"
#include "inspect/file_facts.h"
#include "inspect/offload_bundle.h"

namespace hallmark::inspect {
namespace {

template <class T>
void put(std::string& into, T value) {
  into.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string entry(PartKind kind, unsigned arch, std::uint64_t flags, std::string_view payload) {
  std::string bytes;
  put(bytes, static_cast<std::uint16_t>(kind));
  put(bytes, std::uint16_t{0x101});
  put(bytes, std::uint32_t{64});
  put(bytes, std::uint64_t{payload.size()});
  bytes.append(12, '\0');
  put(bytes, std::uint32_t{arch});
  bytes.append(8, '\0');
  put(bytes, flags);
  bytes.append(16, '\0');
  return bytes.append(payload);
}

std::string container(std::string_view entries) {
  std::string bytes;
  put(bytes, std::uint32_t{0xBA55ED50});
  put(bytes, std::uint16_t{1});
  put(bytes, std::uint16_t{16});
  put(bytes, std::uint64_t{entries.size()});
  return bytes.append(entries);
}

std::string ptx(std::string_view target, std::string_view body) {
  return "//\n// Generated\n//\n.version 9.0\n.target " + std::string(target) + "\n.address_size 64\n" +
         std::string(body);
}

std::string bundle(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string table;
  std::size_t at = 32;
  for (const auto& [name, bytes] : entries) at += 24 + name.size();
  std::string all;
  for (const auto& [name, bytes] : entries) {
    put(table, std::uint64_t{at + all.size()});
    put(table, std::uint64_t{bytes.size()});
    put(table, std::uint64_t{name.size()});
    table += name;
    all += bytes;
  }
  std::string result = "__CLANG_OFFLOAD_BUNDLE__";
  put(result, std::uint64_t{entries.size()});
  return result + table + all;
}

std::string packed(unsigned version, unsigned method, std::string_view plain) {
  std::string content(ZSTD_compressBound(plain.size()) + compressBound(plain.size()), '\0');
  if (method == 1) {
    content.resize(ZSTD_compress(content.data(), content.size(), plain.data(), plain.size(), 3));
  } else {
    uLongf size = content.size();
    compress(reinterpret_cast<Bytef*>(content.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
             plain.size());
    content.resize(size);
  }
  std::string bytes = "CCOB";
  put(bytes, static_cast<std::uint16_t>(version));
  put(bytes, static_cast<std::uint16_t>(method));
  const std::size_t header = version == 1 ? 20 : version == 2 ? 24 : 32;
  if (version == 2) put(bytes, static_cast<std::uint32_t>(header + content.size()));
  if (version == 3) put(bytes, std::uint64_t{header + content.size()});
  if (version == 3) {
    put(bytes, std::uint64_t{plain.size()});
  } else {
    put(bytes, static_cast<std::uint32_t>(plain.size()));
  }
  put(bytes, std::uint64_t{0});
  return bytes + content;
}

std::string names(const std::set<CodeTarget>& targets) {
  std::string text;
  for (const auto& target : targets) text += target.name() + " ";
  return text;
}

bool runs(std::string_view device, const std::set<CodeTarget>& targets) {
  const auto parsed = Device::parse(device);
  EXPECT_TRUE(parsed.has_value()) << device;
  return parsed.has_value() && parsed->runs_one_of(targets);
}

constexpr auto cubin = CodeForm::cubin;
constexpr auto virtual_code = CodeForm::ptx;
constexpr auto amd = CodeForm::amd;

TEST(Device, CubinsRunOnTheirMajorNumberFromTheirMinorOn) {
  EXPECT_TRUE(runs("sm_80", {{cubin, "80"}}));
  EXPECT_TRUE(runs("8.6", {{cubin, "80"}}));
  EXPECT_FALSE(runs("sm_80", {{cubin, "86"}}));
  EXPECT_FALSE(runs("90", {{cubin, "80"}})) << "machine code of an older major number";
  EXPECT_TRUE(runs("sm_103", {{cubin, "100"}}));
  EXPECT_FALSE(runs("sm_120", {{cubin, "100"}}));
  EXPECT_FALSE(runs("sm_87", {{cubin, "80"}})) << "Tegra";
  EXPECT_FALSE(runs("sm_89", {{cubin, "87"}})) << "Tegra";
  EXPECT_TRUE(runs("sm_87", {{cubin, "87"}}));
}

TEST(Device, PtxRunsOnWhatIsNotOlder) {
  EXPECT_TRUE(runs("sm_90", {{virtual_code, "80"}}));
  EXPECT_FALSE(runs("sm_80", {{virtual_code, "90"}}));
  EXPECT_TRUE(runs("sm_87", {{virtual_code, "80"}}));
}

TEST(Device, SuffixesNarrow) {
  EXPECT_TRUE(runs("sm_90", {{cubin, "90a"}}));
  EXPECT_TRUE(runs("sm_90a", {{cubin, "90a"}}));
  EXPECT_FALSE(runs("sm_100", {{virtual_code, "90a"}})) << "PTX for one device only";
  EXPECT_FALSE(runs("sm_103", {{cubin, "100a"}}));
  EXPECT_TRUE(runs("sm_103", {{cubin, "100f"}}));
  EXPECT_TRUE(runs("sm_103", {{virtual_code, "100f"}}));
  EXPECT_FALSE(runs("sm_120", {{virtual_code, "100f"}})) << "PTX for one family only";
}

TEST(Device, CodeThatWaitsForALinkRunsNowhere) {
  EXPECT_FALSE(runs("sm_80", {{CodeForm::lto, "80"}}));
  EXPECT_FALSE(runs("gfx90a", {{CodeForm::bitcode, "gfx90a"}}));
}

TEST(Device, AmdFeaturesMustFit) {
  EXPECT_TRUE(runs("gfx90a", {{amd, "gfx90a"}}));
  EXPECT_FALSE(runs("gfx90a", {{amd, "gfx908"}}));
  EXPECT_FALSE(runs("gfx90", {{amd, "gfx90a"}}));
  EXPECT_TRUE(runs("gfx90a:xnack+", {{amd, "gfx90a"}}));
  EXPECT_FALSE(runs("gfx90a:xnack+", {{amd, "gfx90a:xnack-"}}));
  EXPECT_TRUE(runs("gfx90a:sramecc+:xnack-", {{amd, "gfx90a:xnack-"}}));
  EXPECT_FALSE(runs("gfx90a", {{amd, "gfx90a:xnack-"}})) << "xnack may be on";
  EXPECT_TRUE(runs("gfx90a", {{amd, "gfx90a:xnack-"}, {amd, "gfx90a:xnack+"}}));
  EXPECT_TRUE(runs("gfx1101", {{amd, "gfx11-generic"}}));
  EXPECT_FALSE(runs("gfx1030", {{amd, "gfx11-generic"}}));
  EXPECT_FALSE(runs("sm_90", {{amd, "gfx90a"}}));
}

TEST(Device, NamesThatAreNone) {
  for (const auto* name : {"", "compute_90", "sm_", "sm_9", "9.0.1", "90b", "gfx", "gfx90a:", "gfx90a:xnack",
                           "gfx90a:speed+", "gfx90a:xnack+:xnack-", "gfx11-generic", "sm_99999999999"})
    EXPECT_FALSE(Device::parse(name).has_value()) << name;
}

TEST(DeviceCode, EachKernelHasItsOwnDevices) {
  const auto both = ptx("sm_80", ".visible .entry k(.param .u64 p)\n{ ret; }\n.entry only80() {}");
  const auto code =
      read_device_code(container(entry(PartKind::ptx, 80, 0, both)) + std::string(8, '\0') +
                       container(entry(PartKind::ptx, 90, 0x10'0000, ptx("sm_90a", ".entry k(){}")) +
                                 entry(PartKind::lto, 100, 0, "x")));
  EXPECT_TRUE(code.doubts.empty());
  EXPECT_EQ(names(code.targets()), "compute_80 compute_90a lto_100 ");
  const auto kernels = code.kernels();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(names(kernels.at("k")), "compute_80 compute_90a ");
  EXPECT_EQ(names(kernels.at("only80")), "compute_80 ");
}

TEST(DeviceCode, PtxOfCommentsAndStringsIsNoKernel) {
  const auto code = read_device_code(ptx("sm_90a",
                                         "// .entry a()\n/* .entry b() */\n.file 1 \".entry c()\"\n"
                                         ".weak .entry\n  d\n(\n)\n{}\n.func .entryless() {}\n.entry"));
  const auto kernels = code.kernels();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(names(kernels.at("d")), "compute_90a ");
}

TEST(DeviceCode, UnknownPartsAreDoubts) {
  EXPECT_EQ(read_device_code(container(entry(static_cast<PartKind>(64), 90, 0, "x"))).doubts.size(), 1u);
  const auto whole = container(entry(PartKind::ptx, 80, 0, ptx("sm_80", ".entry k(){}")));
  EXPECT_EQ(read_device_code(whole.substr(0, whole.size() - 1)).doubts.size(), 1u);
  EXPECT_FALSE(read_file_facts(whole.substr(0, whole.size() - 1)).has_value());
}

TEST(DeviceCode, BundlesPlainAndPacked) {
  const auto plain = bundle({{"host-x86_64-unknown-linux--", ""},
                             {"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", "BC\xC0\xDE one"},
                             {"hip-amdgcn-amd-amdhsa--gfx1100", "BC\xC0\xDE two"}});
  std::vector<std::string> all = {plain};
  for (const unsigned version : {1, 2, 3}) {
    for (const unsigned method : {0, 1}) all.push_back(packed(version, method, plain));
  }
  for (const auto& bytes : all) {
    const auto code = read_device_code(bytes);
    EXPECT_TRUE(code.doubts.empty()) << code.doubts.front();
    EXPECT_EQ(names(code.targets()), "gfx1100 (bitcode) gfx90a:xnack- (bitcode) ");
  }
  // A linker puts them side by side.
  const auto two = read_device_code(packed(3, 1, plain) + std::string(100, '\0') + plain);
  EXPECT_TRUE(two.doubts.empty());
  EXPECT_EQ(two.images.size(), 4u);
}

TEST(DeviceCode, DamagedBundlesAreDoubtsNeverACrash) {
  const auto plain = bundle({{"hip-amdgcn-amd-amdhsa--gfx1100", "BC\xC0\xDE"}});
  for (const auto& bytes : {plain, packed(2, 0, plain), packed(3, 1, plain)}) {
    for (std::size_t size = 4; size < bytes.size(); ++size) {
      if (size < 24 && bytes == plain) continue;  // not even the magic
      EXPECT_FALSE(read_device_code(std::string_view(bytes).substr(0, size)).doubts.empty()) << size;
    }
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      auto damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
      (void)read_device_code(damaged);
    }
  }
  EXPECT_EQ(read_device_code(packed(4, 1, plain)).doubts.size(), 1u);
  EXPECT_EQ(read_device_code(packed(2, 2, plain)).doubts.size(), 1u);
}

TEST(Archive, NamesOfBothKinds) {
  const auto member = [](std::string name, std::string_view bytes) {
    name.resize(16, ' ');
    std::string size = std::to_string(bytes.size());
    size.resize(10, ' ');
    return name + std::string(32, ' ') + size + "`\n" + std::string(bytes) +
           (bytes.size() % 2 != 0 ? "\n" : "");
  };
  const auto bytes = "!<arch>\n" + member("/", "index") + member("//", "a_very_long_name_indeed.o/\n") +
                     member("short.o/", "1") + member("/0", "22") +
                     member("#1/8", std::string("bsd.o\0\0\0", 8) + "3");
  std::string seen;
  ASSERT_TRUE(for_each_member(bytes, [&](std::string_view name, std::string_view content) {
    seen += std::string(name) + "=" + std::string(content) + " ";
  }));
  EXPECT_EQ(seen, "short.o=1 a_very_long_name_indeed.o=22 bsd.o=3 ");
  const auto ignore = [](std::string_view, std::string_view) {};
  EXPECT_EQ(for_each_member("!<thin>\n", ignore).error().kind, ErrorKind::unsupported);
  EXPECT_EQ(for_each_member(bytes.substr(0, bytes.size() - 2), ignore).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(for_each_member(bytes.substr(0, 20), ignore).error().kind, ErrorKind::corrupt);
}

TEST(FileFacts, OtherThingsAreRefused) {
  EXPECT_EQ(read_file_facts("").error().kind, ErrorKind::invalid);
  EXPECT_EQ(read_file_facts("int main() {}").error().kind, ErrorKind::invalid);
  EXPECT_EQ(read_file_facts("\x7f"
                            "ELF")
                .error()
                .kind,
            ErrorKind::corrupt);
}

}  // namespace
}  // namespace hallmark::inspect
