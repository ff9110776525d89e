/*
 * hashlane_audit.h: a hash table for `hashlane audit --table ./libmine.so`.
 *
 * A shared object implements these functions around the table that is to be audited. The audit loads it into
 * a separate process, fills it with hostile and with random keys, and compares the time of lookups, and the
 * entries compared if hashlane_audit_compared is there.
 *
 * Threads: all calls come from one thread. The library may have others.
 * Ownership: keys and seeds belong to the caller, and are valid during the call alone: copy what is kept.
 * Tables belong to the library, until hashlane_audit_free takes them back. There may be several tables.
 *
 * Build, for example: cc -O2 -shared -fPIC -I include -o libmine.so mine.c
 */
#ifndef HASHLANE_AUDIT_H
#define HASHLANE_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header. */
#define HASHLANE_AUDIT_ABI 1

/* Returns HASHLANE_AUDIT_ABI. */
uint32_t hashlane_audit_abi(void);

/*
 * Returns a new, empty table, or NULL if it cannot be made. `seed` points to 16 random bytes, for a table
 * whose hash takes a seed; a table that counts entries and compares as many under every seed is reported as
 * one that ignores it. `capacity` is the number of entries to make room for; 0 leaves it to the table.
 */
void *hashlane_audit_init(const uint8_t *seed, size_t capacity);

/* Inserts the key of `len` bytes. Returns 0 if the table has the key afterwards, else another number. */
int hashlane_audit_insert(void *table, const uint8_t *key, size_t len);

/* Returns 1 if the table has the key, else 0. */
int hashlane_audit_find(void *table, const uint8_t *key, size_t len);

/* Returns the number of entries. */
size_t hashlane_audit_len(void *table);

/* Frees the table. */
void hashlane_audit_free(void *table);

/*
 * Optional. Returns the number of entries that insertions and lookups have compared with their keys since the
 * table was made: by the hash, by a tag or by the bytes. Counts do not depend on the machine, so that they
 * decide where both counts and times are there.
 */
uint64_t hashlane_audit_compared(void *table);

#ifdef __cplusplus
}
#endif

#endif
