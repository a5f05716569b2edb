/* A program that names an object of a library, such as environ, std::cout or a communicator of Open
 * MPI, may contain a copy of it (R_X86_64_COPY), which it and all libraries then use. A library
 * that is loaded with RTLD_DEEPBIND finds the original object instead, which nobody has
 * initialized.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "front.h"

#ifdef __aarch64__
enum { address_of_symbol = R_AARCH64_GLOB_DAT, address_with_offset = R_AARCH64_ABS64 };
#else
enum { address_of_symbol = R_X86_64_GLOB_DAT, address_with_offset = R_X86_64_64 };
#endif

struct search {
    int object, first;    /* number of the object at hand; the first one to change */
    uintptr_t begin, end; /* addresses of the executable */
};

static int count_object(struct dl_phdr_info* info, size_t size, void* number) {
    (void)info, (void)size;
    ++*(int*)number;
    return 0;
}

int loaded_objects(void) {
    int number = 0;
    dl_iterate_phdr(count_object, &number);
    return number;
}

static void find_executable(const struct dl_phdr_info* info, struct search* s) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)* const p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD) continue;
        const uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        if (s->begin == 0 || begin < s->begin) s->begin = begin;
        if (begin + p->p_memsz > s->end) s->end = begin + p->p_memsz;
    }
}

/* Returns the address of the executable's copy of an object; 0 if there is none. */
static uintptr_t copy_of(const struct search* s, const char* name, uintptr_t object) {
    Dl_info where;
    const ElfW(Sym)* symbol = NULL;
    const uintptr_t used = (uintptr_t)dlsym(RTLD_DEFAULT, name);
    if (used < s->begin || used >= s->end) return 0;
    if (dladdr1((void*)used, &where, (void**)&symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL ||
        ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT)
        return 0;
    /* The first library of the program that has the object is the one from which it was copied;
     * others, such as another HDF5, may have objects of the same name. */
    return (uintptr_t)dlsym(RTLD_NEXT, name) == object ? used : 0;
}

static void store(uintptr_t at, uintptr_t value) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = at / page * page;
    /* The page may have been made read-only after relocation; it can also hold other data. */
    if (*(uintptr_t*)at != value &&
        mprotect((void*)begin, at + sizeof value - begin, PROT_READ | PROT_WRITE) == 0)
        *(uintptr_t*)at = value;
}

static void change_object(const struct dl_phdr_info* info, const struct search* s) {
    const ElfW(Dyn)* dynamic = NULL;
    const ElfW(Rela)* entries = NULL;
    const ElfW(Sym)* symbols = NULL;
    const char* names = NULL;
    size_t bytes = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const void*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; dynamic != NULL && dynamic->d_tag != DT_NULL; ++dynamic) {
        if (dynamic->d_tag == DT_RELA) entries = (const void*)dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_RELASZ) bytes = dynamic->d_un.d_val;
        if (dynamic->d_tag == DT_SYMTAB) symbols = (const void*)dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_STRTAB) names = (const void*)dynamic->d_un.d_ptr;
    }
    if (entries == NULL || symbols == NULL || names == NULL) return;
    for (size_t i = 0; i < bytes / sizeof *entries; ++i) {
        const unsigned type = ELF64_R_TYPE(entries[i].r_info);
        if (type != address_of_symbol && type != address_with_offset) continue;
        const ElfW(Sym)* const symbol = &symbols[ELF64_R_SYM(entries[i].r_info)];
        if (symbol->st_shndx != SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) == STT_FUNC) continue;
        const uintptr_t at = info->dlpi_addr + entries[i].r_offset;
        const uintptr_t addend = (uintptr_t)entries[i].r_addend;
        const uintptr_t copy = copy_of(s, names + symbol->st_name, *(uintptr_t*)at - addend);
        if (copy != 0) store(at, copy + addend);
    }
}

static int visit_object(struct dl_phdr_info* info, size_t size, void* search) {
    struct search* const s = search;
    (void)size;
    if (s->object == 0) find_executable(info, s);
    if (s->object++ >= s->first) change_object(info, s);
    return 0;
}

void share_copied_objects(int first) {
    struct search s = {0, first, 0, 0};
    dl_iterate_phdr(visit_object, &s);
}
