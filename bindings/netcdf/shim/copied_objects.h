/* SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_SHIM_COPIED_OBJECTS_H
#define THALWEG_SHIM_COPIED_OBJECTS_H

/* Returns the number of objects (executable and libraries) that are loaded. */
int loaded_objects(void);

/* Makes libraries that were loaded with RTLD_DEEPBIND use the program's copies of objects.
 * first: number of objects that were loaded before them. */
void share_copied_objects(int first);

#endif
