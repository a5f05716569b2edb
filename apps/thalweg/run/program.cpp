// SPDX-License-Identifier: Apache-2.0
#include "run/program.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace thalweg::app {

namespace {

namespace fs = std::filesystem;

/// The content of an ELF file. Its sizes are checked, as the file may be damaged.
class Elf {
public:
    explicit Elf(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        bytes_.assign(std::istreambuf_iterator<char>(file), {});
        const Elf64_Ehdr* const header = at<Elf64_Ehdr>(0, 1);
        if (header != nullptr && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
            header->e_ident[EI_CLASS] == ELFCLASS64 &&
            (header->e_type == ET_EXEC || header->e_type == ET_DYN))
            header_ = header;
    }

    bool good() const { return header_ != nullptr; }

    /// Tests if the program needs a loader.
    bool has_loader() const { return segment(PT_INTERP) != nullptr; }

    /// Tests if the file is a shared library and not a program.
    bool is_library() const {
        if (header_->e_type != ET_DYN || has_loader()) return false;
        const Elf64_Phdr* const s = segment(PT_DYNAMIC);
        const std::uint64_t count = s != nullptr ? s->p_filesz / sizeof(Elf64_Dyn) : 0;
        const auto* const entries = s != nullptr ? at<Elf64_Dyn>(s->p_offset, count) : nullptr;
        return entries != nullptr && std::none_of(entries, entries + count, [](const Elf64_Dyn& d) {
                   return d.d_tag == DT_FLAGS_1 && (d.d_un.d_val & DF_1_PIE) != 0;
               });
    }

    /// Tests if a function is defined in one of the symbol tables.
    bool defines(const std::string& name) const {
        const auto* const sections = at<Elf64_Shdr>(header_->e_shoff, header_->e_shnum);
        if (sections == nullptr) return false;
        return std::any_of(sections, sections + header_->e_shnum, [&](const Elf64_Shdr& s) {
            return (s.sh_type == SHT_SYMTAB || s.sh_type == SHT_DYNSYM) &&
                   s.sh_link < header_->e_shnum && defines(s, sections[s.sh_link], name);
        });
    }

private:
    /// Returns the first segment of a kind; null if there is none.
    const Elf64_Phdr* segment(std::uint32_t type) const {
        const auto* const segments = at<Elf64_Phdr>(header_->e_phoff, header_->e_phnum);
        if (segments == nullptr) return nullptr;
        const auto* const found =
            std::find_if(segments, segments + header_->e_phnum,
                         [=](const Elf64_Phdr& s) { return s.p_type == type; });
        return found != segments + header_->e_phnum ? found : nullptr;
    }

    template <class T>
    const T* at(std::uint64_t offset, std::uint64_t count) const {
        if (offset % alignof(T) != 0 || offset > bytes_.size() ||
            count > (bytes_.size() - offset) / sizeof(T))
            return nullptr;
        return reinterpret_cast<const T*>(bytes_.data() + offset);
    }

    bool defines(const Elf64_Shdr& table, const Elf64_Shdr& names, const std::string& name) const {
        const std::uint64_t count = table.sh_size / sizeof(Elf64_Sym);
        const auto* const symbols = at<Elf64_Sym>(table.sh_offset, count);
        const auto* const text = at<char>(names.sh_offset, names.sh_size);
        if (symbols == nullptr || text == nullptr) return false;
        return std::any_of(symbols, symbols + count, [&](const Elf64_Sym& s) {
            return s.st_shndx != SHN_UNDEF && s.st_name < names.sh_size &&
                   names.sh_size - s.st_name > name.size() &&
                   std::memcmp(text + s.st_name, name.c_str(), name.size() + 1) == 0;
        });
    }

    std::string bytes_;
    const Elf64_Ehdr* header_ = nullptr;
};

bool is_program(const std::string& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

Program read_program(const std::string& path, const std::vector<std::string>& names) {
    Program program;
    const Elf elf(path);
    if (!elf.good() || elf.is_library()) return program;
    program.readable = true;
    program.dynamic = elf.has_loader();
    std::copy_if(names.begin(), names.end(), std::back_inserter(program.defined),
                 [&](const std::string& name) { return elf.defines(name); });
    // This project's own static libpnetcdf takes all files.
    if (elf.defines("thalweg_shim_depth")) std::erase(program.defined, "ncmpi_create");
    return program;
}

std::string find_program(const std::string& command) {
    if (command.find('/') != std::string::npos) return is_program(command) ? command : "";
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (const std::string found = folder + "/" + command; is_program(found)) return found;
    return "";
}

std::string find_shim() {
    std::error_code error;
    const fs::path prefix = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
    for (const char* folder : {THALWEG_LIBRARY_FOLDER, "lib"})
        if (const fs::path found = prefix / folder / "libthalweg_shim.so"; fs::exists(found, error))
            return found.string();
    return "";
}

std::vector<std::string> find_unreachable(const std::vector<std::string>& command) {
    std::vector<std::string> lines;
    for (const std::string& word : command) {
        const bool first = &word == &command.front();
        if (!first && word.find('/') == std::string::npos) continue;
        const std::string path = find_program(word);
        if (path.empty()) continue;
        const Program program = read_program(path, {"nc_create", "ncmpi_create"});
        if (program.readable && !program.dynamic)
            lines.push_back(fmt::format("{} is static: none of its files is taken", word));
        else if (!program.defined.empty())
            lines.push_back(
                fmt::format("{} has netCDF or PnetCDF linked statically ({}): those "
                            "calls are not taken",
                            word, program.defined.front()));
    }
    return lines;
}

}  // namespace thalweg::app
