#include "report/symbolize.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/ranges.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

namespace pf::report {
namespace {

struct FreeIt {
  void operator()(void* p) const { std::free(p); }
};
template <class T>
using Malloced = std::unique_ptr<T, FreeIt>;

char* default_debuginfo_path = nullptr;  // libdw's own: next to the file, .debug/, /usr/lib/debug

constexpr Dwfl_Callbacks kCallbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &default_debuginfo_path,
};

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// Programs map devices, too; to read one might wait for ever.
bool is_plain_file(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::string text_attribute(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  const char* text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
  return text == nullptr ? "" : text;
}

uint32_t number_attribute(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ? static_cast<uint32_t>(value) : 0;
}

// The other half of a unit that was compiled with -gsplit-dwarf: functions are there, lines are here.
bool find_split(Dwarf_Die* unit, Dwarf_Die& split) {
  uint8_t type = 0;
  split = {};
  const int found = dwarf_cu_info(unit->cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr);
  return found == 0 && type == DW_UT_skeleton && split.addr != nullptr;
}

void name_function(Frame& frame, Dwarf_Die* die) {
  std::string linkage = text_attribute(die, DW_AT_linkage_name);
  if (linkage.empty()) linkage = text_attribute(die, DW_AT_MIPS_linkage_name);
  frame.signature = linkage.empty() ? text_attribute(die, DW_AT_name) : demangle(linkage.c_str());
  frame.function = linkage.empty() ? frame.signature : without_parameters(frame.signature);
}

// Where a function was inlined.
void place_call(Frame& frame, Dwarf_Die* cu, Dwarf_Die* inlined) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrcfiles(cu, &files, &count) == 0) {
    const char* file = dwarf_filesrc(files, number_attribute(inlined, DW_AT_call_file), nullptr, nullptr);
    if (file != nullptr) frame.file = file;
  }
  frame.line = number_attribute(inlined, DW_AT_call_line);
  frame.column = number_attribute(inlined, DW_AT_call_column);
}

bool says_addresses(Dwarf_Die& die) {
  return dwarf_hasattr(&die, DW_AT_low_pc) != 0 || dwarf_hasattr(&die, DW_AT_ranges) != 0;
}

// "a/./b/../c" as people write it: compilers record the names as they were given.
std::string tidy_path(std::string_view path) {
  std::vector<std::string_view> parts;
  const bool absolute = path.starts_with('/');
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (part != ".." || !absolute) {
      parts.push_back(part);
    }
  }
  return fmt::format("{}{}", absolute ? "/" : "", fmt::join(parts, "/"));
}

// "src/bank.cpp" of "/home/me/bank/src/bank.cpp", whichever of them is the longer one.
bool is_end_of(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return !a.empty() && b.ends_with(a) &&
         (a.size() == b.size() || b[b.size() - a.size() - 1] == '/' || a.front() == '/');
}

}  // namespace

// One ELF file and its debug information, wherever libdw finds it.
class Symbolizer::File {
 public:
  File(std::string path, const std::string& prefix) : path_(std::move(path)), prefix_(prefix) {
    if (is_plain_file(path_)) dwfl_ = dwfl_begin(&kCallbacks);
    if (dwfl_ == nullptr) return;
    dwfl_report_begin(dwfl_);
    module_ = dwfl_report_elf(dwfl_, path_.c_str(), path_.c_str(), -1, 0, true);
    dwfl_report_end(dwfl_, nullptr, nullptr);
    if (module_ != nullptr) read_segments();
  }
  ~File() {
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool readable() const { return module_ != nullptr; }
  const std::vector<Segment>& segments() const { return segments_; }

  const std::vector<Frame>& frames(uint64_t address) {
    const auto [it, fresh] = frames_.try_emplace(address);
    if (fresh) it->second = look_up(address);
    return it->second;
  }

  const GlobalSymbol* global(uint64_t address) {
    if (!globals_read_) read_globals();
    auto it = std::ranges::upper_bound(globals_, address, {}, &GlobalSymbol::address);
    while (it != globals_.begin()) {
      --it;
      if (address - it->address < it->size) return &*it;
      if (address - it->address > largest_global_) break;
    }
    return nullptr;
  }

  std::vector<CodeRange> code_of(std::string_view file, uint32_t line, uint32_t column) {
    std::vector<CodeRange> found;
    const std::string wanted = tidy_path(file);
    if (!units_read_) read_units();
    std::set<Dwarf_CU*> seen;  // of several ranges
    for (Unit& u : units_) {
      Dwarf_Lines* lines = nullptr;
      std::size_t count = 0;
      if (!seen.insert(u.die.cu).second || dwarf_getsrclines(&u.die, &lines, &count) != 0) continue;
      for (std::size_t i = 0; i + 1 < count; ++i) {
        Dwarf_Line* at = dwarf_onesrcline(lines, i);
        Frame here;
        read_line(here, at);
        const bool is_there =
            here.line == line && (column == 0 || here.column == column) && is_end_of(wanted, tidy_path(here.file));
        Dwarf_Addr begin = 0, end = 0;
        if (is_there && dwarf_lineaddr(at, &begin) == 0 && dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &end) == 0 &&
            begin < end)
          found.push_back({begin + debug_bias_, end + debug_bias_});
      }
    }
    return found;
  }

 private:
  // A unit of compilation, or a function.
  struct Unit {
    uint64_t start, end;
    Dwarf_Die die;
  };

  void read_segments() {
    GElf_Addr bias = 0;
    Elf* elf = dwfl_module_getelf(module_, &bias);
    std::size_t count = 0;
    if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD) continue;
      segments_.push_back({header.p_offset, header.p_vaddr, header.p_filesz, header.p_memsz});
    }
  }

  std::vector<Frame> look_up(uint64_t address) {
    std::vector<Frame> found = by_debug_info(address);
    if (found.empty()) found.push_back(by_symbol_table(address));
    for (Frame& f : found) {
      f.module = base_name(path_);
      f.offset = address;
      f.file = tidy_path(f.file);
      if (!prefix_.empty() && f.file.starts_with(prefix_)) f.file.erase(0, prefix_.size());
    }
    return found;
  }

  // The chain of functions around the address: inlined ones up to the one that holds them all.
  std::vector<Frame> by_debug_info(uint64_t address) {
    Dwarf_Die* cu = unit(address);
    if (cu == nullptr) return {};
    Dwarf_Die split;
    if (find_split(cu, split)) cu = &split;
    Dwarf_Die* function = this->function(cu, address - debug_bias_);
    if (function == nullptr) return {};
    std::vector<Dwarf_Die> chain{*function};
    descend(*function, address - debug_bias_, chain);
    std::ranges::reverse(chain);
    return walk(cu, chain, address);
  }

  // The function of a unit that holds the address. By an index of our own: libdw's search looks into a function only if that
  // holds the address, but GCC has the functions of a local class inside of the function around it.
  Dwarf_Die* function(Dwarf_Die* cu, uint64_t pc) {
    const auto [it, fresh] = functions_.try_emplace(cu->addr);
    std::vector<Unit>& functions = it->second;
    if (fresh) {
      find_functions(*cu, functions);
      std::ranges::sort(functions, {}, &Unit::start);
    }
    const auto after = std::ranges::upper_bound(functions, pc, {}, &Unit::start);
    return after == functions.begin() || std::prev(after)->end <= pc ? nullptr : &std::prev(after)->die;
  }

  static void find_functions(Dwarf_Die& parent, std::vector<Unit>& functions) {
    Dwarf_Die die;
    for (int more = dwarf_child(&parent, &die); more == 0; more = dwarf_siblingof(&die, &die)) {
      if (dwarf_tag(&die) == DW_TAG_subprogram) {
        Dwarf_Addr base = 0, start = 0, end = 0;
        for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0;) {
          if (start != 0 && start < end) functions.push_back({start, end, die});
        }
      }
      if (dwarf_haschildren(&die) > 0) find_functions(die, functions);
    }
  }

  // Adds the functions inlined at the address, outermost first. A block that says nothing of addresses may hold them all the same.
  static bool descend(Dwarf_Die& parent, uint64_t pc, std::vector<Dwarf_Die>& chain) {
    Dwarf_Die die;
    for (int more = dwarf_child(&parent, &die); more == 0; more = dwarf_siblingof(&die, &die)) {
      const int tag = dwarf_tag(&die);
      const bool is_inlined = tag == DW_TAG_inlined_subroutine;
      if (!is_inlined && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block && tag != DW_TAG_catch_block) continue;
      if (dwarf_haspc(&die, pc) > 0) {
        if (is_inlined) chain.push_back(die);
        descend(die, pc, chain);
        return true;
      }
      if (!is_inlined && !says_addresses(die) && descend(die, pc, chain)) return true;
    }
    return false;
  }

  // The compilation unit that holds the address. By an index of our own: libdw's is .debug_aranges, which clang leaves out.
  Dwarf_Die* unit(uint64_t address) {
    if (!units_read_) read_units();
    const auto it = std::ranges::upper_bound(units_, address, {}, &Unit::start);
    return it == units_.begin() || std::prev(it)->end <= address ? nullptr : &std::prev(it)->die;
  }

  void read_units() {
    units_read_ = true;
    Dwarf_Die* cu = nullptr;
    Dwarf_Addr bias = 0;
    while (module_ != nullptr && (cu = dwfl_module_nextcu(module_, cu, &bias)) != nullptr) {
      debug_bias_ = bias;
      Dwarf_Addr base = 0, start = 0, end = 0;
      for (ptrdiff_t at = 0; (at = dwarf_ranges(cu, at, &base, &start, &end)) > 0;) {
        if (start != 0 && start < end) units_.push_back({start + bias, end + bias, *cu});  // 0: dropped by the linker
      }
    }
    std::ranges::sort(units_, {}, &Unit::start);
  }

  std::vector<Frame> walk(Dwarf_Die* cu, std::span<Dwarf_Die> chain, uint64_t address) {
    std::vector<Frame> found;
    Frame frame;
    place(frame, address);
    for (Dwarf_Die& die : chain) {
      name_function(frame, &die);
      found.push_back(std::exchange(frame, {}));
      if (dwarf_tag(&die) != DW_TAG_inlined_subroutine) {
        qualify(found.back(), address);
        break;
      }
      place_call(frame, cu, &die);
    }
    return found;
  }

  // Short debug information (-g1) has "deposit" where the symbol table has "bank::Account::deposit(int)".
  void qualify(Frame& frame, uint64_t address) {
    const Frame symbol = by_symbol_table(address);
    const bool is_longer =
        symbol.signature.size() > frame.signature.size() && symbol.function.ends_with(frame.function);
    if (!is_longer) return;
    frame.function = symbol.function;
    frame.signature = symbol.signature;
  }

  void place(Frame& frame, uint64_t address) {
    Dwarf_Die* cu = unit(address);
    Dwarf_Line* line = cu == nullptr ? nullptr : dwarf_getsrc_die(cu, address - debug_bias_);
    if (line != nullptr) read_line(frame, line);
  }

  static void read_line(Frame& frame, Dwarf_Line* line) {
    const char* file = dwarf_linesrc(line, nullptr, nullptr);
    if (file == nullptr) return;
    int number = 0, column = 0;
    dwarf_lineno(line, &number);
    dwarf_linecol(line, &column);
    frame.file = file;
    frame.line = static_cast<uint32_t>(number);
    frame.column = static_cast<uint32_t>(column);
  }

  Frame by_symbol_table(uint64_t address) {
    Frame frame;
    if (module_ == nullptr) return frame;
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char* name = dwfl_module_addrinfo(module_, address, &offset, &symbol, nullptr, nullptr, nullptr);
    if (name != nullptr) {
      frame.signature = demangle(name);
      frame.function = without_parameters(frame.signature);
    }
    place(frame, address);
    return frame;
  }

  void read_globals() {
    globals_read_ = true;
    const int count = module_ == nullptr ? 0 : dwfl_module_getsymtab(module_);
    for (int i = 1; i < count; ++i) {
      GElf_Sym symbol;
      GElf_Addr address = 0;
      const char* name = dwfl_module_getsym_info(module_, i, &symbol, &address, nullptr, nullptr, nullptr);
      const int type = GELF_ST_TYPE(symbol.st_info);
      if (name == nullptr || symbol.st_size == 0 || (type != STT_OBJECT && type != STT_COMMON)) continue;
      if (symbol.st_shndx == SHN_UNDEF) continue;
      globals_.push_back({name, address, symbol.st_size});
      largest_global_ = std::max(largest_global_, symbol.st_size);
    }
    std::ranges::sort(globals_, {}, &GlobalSymbol::address);
  }

  std::string path_;
  const std::string& prefix_;
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  std::vector<Segment> segments_;
  std::map<uint64_t, std::vector<Frame>> frames_;
  std::vector<Unit> units_;                       // by address
  std::map<void*, std::vector<Unit>> functions_;  // of each unit that was looked at, by address, without the bias
  Dwarf_Addr debug_bias_ = 0;
  bool units_read_ = false;
  std::vector<GlobalSymbol> globals_;  // by address; mangled
  uint64_t largest_global_ = 0;
  bool globals_read_ = false;
};

Symbolizer::Symbolizer(Warn warn) : warn_(std::move(warn)) {}
Symbolizer::~Symbolizer() = default;

Symbolizer::File& Symbolizer::open(const std::string& path) {
  std::unique_ptr<File>& file = files_[path];
  if (!file) file = std::make_unique<File>(path, prefix_);
  return *file;
}

const std::vector<Frame>& Symbolizer::frames(const std::string& path, uint64_t address) {
  File& file = open(path);
  if (!file.readable() && warned_.insert(path).second) {
    const int error = access(path.c_str(), R_OK) == 0 ? 0 : errno;
    warn_(fmt::format("no names for {}: {}", path, error == 0 ? "not an ELF file" : std::strerror(error)));
  }
  return file.frames(address);
}

std::optional<GlobalSymbol> Symbolizer::global(const std::string& path, uint64_t address) {
  const GlobalSymbol* symbol = open(path).global(address);
  if (symbol == nullptr) return std::nullopt;
  GlobalSymbol named = *symbol;
  named.name = demangle(symbol->name.c_str());
  return named;
}

std::vector<CodeRange> Symbolizer::code_of(const std::string& path, const std::string& file, uint32_t line,
                                           uint32_t column) {
  return open(path).code_of(file, line, column);
}

const std::vector<Segment>& Symbolizer::segments(const std::string& path) { return open(path).segments(); }

std::string demangle(const char* name) {
  int status = 0;
  const Malloced<char> text(abi::__cxa_demangle(name, nullptr, nullptr, &status));
  return status == 0 && std::strncmp(name, "_Z", 2) == 0 ? text.get() : name;
}

namespace {

// Where the bracket that ends at `close` opens; npos if nowhere.
std::size_t opening(std::string_view s, std::size_t close) {
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (s[i] == ')') ++depth;
    if (s[i] == '(' && --depth == 0) return i;
  }
  return s.npos;
}

// Only functions made from templates have their return type in front; the name starts after the last free space.
std::string_view without_return_type(std::string_view s) {
  if (s.find("operator") != s.npos || s.find('<') == s.npos || s.find(" to ") != s.npos) return s;
  int depth = 0;
  for (std::size_t i = s.size(); i-- > 0;) {
    if (s[i] == '>' || s[i] == ')' || s[i] == '}' || s[i] == ']') ++depth;
    if (s[i] == '<' || s[i] == '(' || s[i] == '{' || s[i] == '[') --depth;
    if (s[i] == ' ' && depth == 0) return s.substr(i + 1);
  }
  return s;
}

}  // namespace

std::string without_parameters(std::string_view function) {
  std::string_view s = function.substr(0, function.find(" [clone"));
  const std::size_t close = s.rfind(')');
  if (close == s.npos) return std::string(s);
  const std::string_view after = s.substr(close + 1);
  constexpr std::string_view kQualifiers = " constvolatile&";  // the letters of what may follow the parameters
  if (after.find_first_not_of(kQualifiers) != after.npos) return std::string(s);
  const std::size_t open = opening(s, close);
  if (open == s.npos || open == 0 || s.substr(0, open).ends_with("operator")) return std::string(s);
  s = without_return_type(s.substr(0, open));
  return std::string(s.substr(0, s.ends_with(']') ? s.rfind("[abi:") : s.npos));
}

}  // namespace pf::report
