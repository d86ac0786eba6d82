// Stands in for libFuzzer where only the corpus is to be run: each file as it is, and mutations of it that
// are the same in every run. Exit status 1 if the corpus is missing: a fuzzer that ran nothing has shown
// nothing.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kMutationsPerFile = 2000;

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string mutated(std::string input, std::mt19937& random) {
  for (unsigned changes = random() % 4 + 1; changes > 0; --changes) {
    const std::size_t place = input.empty() ? 0 : random() % input.size();
    switch (random() % 5) {
      case 0:
        input.insert(place, 1, static_cast<char>(random()));
        break;
      case 1:
        input.erase(place, random() % 8);
        break;
      case 2:
        if (!input.empty()) input[place] = static_cast<char>(random() % 2 == 0 ? 0xff : 0x00);
        break;
      case 3:
        input.insert(place, input.substr(random() % (input.size() + 1), random() % 16));
        break;
      default:
        if (!input.empty()) input[place] = static_cast<char>(input[place] ^ (1 << random() % 8));
        break;
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  std::mt19937 random(1);
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i], error)) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string input((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      run(input);
      for (int n = 0; n < kMutationsPerFile; ++n) run(mutated(input, random));
      ++files;
    }
  }
  std::printf("%d files, %d mutations of each\n", files, kMutationsPerFile);
  return files > 0 ? 0 : 1;
}
