/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked into every program of a sanitizer build, so that lsan.supp can name the libraries whose
 * leaks are not reported:
 * - plug-ins are not unloaded at the end, so that the leak check still finds the functions that
 *   have allocated memory;
 * - the functions that allocate a formatted text have a frame that the fast unwinder can read; it
 *   cannot find the callers of those in libc.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int dlclose(void* handle);
int vasprintf(char** text, const char* format, va_list arguments);
int asprintf(char** text, const char* format, ...);
int __vasprintf_chk(char** text, int flag, const char* format, va_list arguments);
int __asprintf_chk(char** text, int flag, const char* format, ...);

int dlclose(void* handle) {
    (void)handle;
    return 0;
}

int vasprintf(char** text, const char* format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    const int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    *text = n < 0 ? NULL : malloc((size_t)n + 1);
    return *text == NULL ? -1 : vsnprintf(*text, (size_t)n + 1, format, arguments);
}

int asprintf(char** text, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int n = vasprintf(text, format, arguments);
    va_end(arguments);
    return n;
}

int __vasprintf_chk(char** text, int flag, const char* format, va_list arguments) {
    (void)flag;
    return vasprintf(text, format, arguments);
}

int __asprintf_chk(char** text, int flag, const char* format, ...) {
    (void)flag;
    va_list arguments;
    va_start(arguments, format);
    const int n = vasprintf(text, format, arguments);
    va_end(arguments);
    return n;
}
