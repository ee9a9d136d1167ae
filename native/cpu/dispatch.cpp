#include "cpu/dispatch.h"

#include <cstring>

#include "cpu/level_trial.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace wl::cpu {

namespace {

#if defined(__x86_64__)

struct CpuidRegisters {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

CpuidRegisters cpuid(unsigned leaf, unsigned subleaf = 0) {
  CpuidRegisters r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

bool bit(unsigned value, int index) { return (value >> index & 1u) != 0; }

/// XCR0: which register states the operating system saves. Only readable when OSXSAVE is set.
unsigned long long read_xcr0() {
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<unsigned long long>(high) << 32 | low;
}

bool has_avx2() {
  const CpuidRegisters one = cpuid(1), seven = cpuid(7);
  if (!bit(one.ecx, 27)) return false;                               // OSXSAVE
  if ((read_xcr0() & 0x6) != 0x6) return false;                      // xmm, ymm
  return bit(seven.ebx, 5) && bit(one.ecx, 12) && bit(one.ecx, 29);  // AVX2, FMA, F16C
}

bool has_avx512() {
  if (!has_avx2() || (read_xcr0() & 0xe0) != 0xe0) return false;  // opmask, zmm
  const CpuidRegisters seven = cpuid(7);
  return bit(seven.ebx, 16) && bit(seven.ebx, 17) && bit(seven.ebx, 30) && bit(seven.ebx, 31) &&
         bit(seven.ecx, 11);  // F, DQ, BW, VL, VNNI
}

/// Asks the kernel to save the tiles of this process' threads; it does so only when asked.
bool may_use_tiles() {
#if defined(__linux__)
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // arch_prctl, Linux 5.16 and later
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

bool has_amx() {
  constexpr unsigned long long kTileStates = 0x60000;  // configuration and data
  if (!has_avx512() || (read_xcr0() & kTileStates) != kTileStates) return false;
  const CpuidRegisters seven = cpuid(7);
  return bit(seven.edx, 24) && bit(seven.edx, 25) && may_use_tiles();  // AMX-TILE, AMX-INT8
}

#endif

struct Level {
  const char* name;
  const KernelTable* table;
};

std::vector<Level> levels() {
  std::vector<Level> found = {{"ref", ref_kernels()}};
#if defined(__x86_64__) && defined(WL_HAVE_AVX2)
  if (has_avx2()) found.push_back({"avx2", avx2_kernels()});
#endif
#if defined(__x86_64__) && defined(WL_HAVE_AVX512)
  if (has_avx512()) found.push_back({"avx512", avx512_kernels()});
#endif
#if defined(__x86_64__) && defined(WL_HAVE_AMX) && defined(WL_HAVE_AVX512)
  if (has_amx()) found.push_back({"amx", amx_kernels()});
#endif
  return found;
}

/// The last level, but for AMX: that has to be the better one on this CPU, which is tried once.
const Level& automatic_level(const std::vector<Level>& found) {
  const Level& last = found.back();
  if (std::strcmp(last.name, "amx") != 0) return last;
  const Level& without_tiles = found[found.size() - 2];
  static const bool is_better = try_level(*without_tiles.table, *last.table).is_better();
  return is_better ? last : without_tiles;
}

}  // namespace

std::vector<std::string> available_levels() {
  std::vector<std::string> names;
  for (const Level& level : levels()) names.emplace_back(level.name);
  return names;
}

Result<const KernelTable*> kernels_for(const std::string& name) {
  const std::vector<Level> found = levels();
  if (name == "auto") return automatic_level(found).table;
  std::string known;
  for (const Level& level : found) {
    if (name == level.name) return level.table;
    known += std::string(known.empty() ? "" : ", ") + level.name;
  }
  return Error{ErrorCode::kInvalidArgument, "instruction-set level " + escape_bytes(name) +
                                                " is not available; this CPU has " + known};
}

std::string cpu_name() {
#if defined(__x86_64__)
  char brand[49] = {};
  for (unsigned i = 0; i < 3; ++i) {
    const CpuidRegisters r = cpuid(0x80000002u + i);
    std::memcpy(brand + 16 * i, &r, 16);
  }
  const std::string text = brand;
  const size_t begin = text.find_first_not_of(' ');
  if (begin != std::string::npos) return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
#endif
  return "unknown CPU";
}

}  // namespace wl::cpu
