/*
 * A flow table for `hashlane audit`: chained buckets, doubled as it fills.
 *
 *   cc -O2 -shared -fPIC -I ../../include        -o libflow.so      flow_table.c   SipHash-2-4, keyed
 *   cc -O2 -shared -fPIC -I ../../include -DWEAK -o libflow-weak.so flow_table.c   FNV-1a, without a key
 */
#include "hashlane_audit.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    size_t len;
    uint8_t key[];
};

struct table {
    struct entry **buckets;
    size_t mask, len;
    uint64_t compared;
    uint8_t seed[16];
};

#ifdef WEAK
/* Also for `hashlane audit --library libflow-weak.so --symbol hash_flow`. */
uint64_t hash_flow(const uint8_t *data, size_t len, const uint8_t *seed) {
    (void)seed;
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < len; i++)
        h = (h ^ data[i]) * 0x100000001b3;
    return h;
}
#else
static uint64_t rotl(uint64_t x, int b) {
    return x << b | x >> (64 - b);
}

static uint64_t load(const uint8_t *p, size_t len) {
    uint64_t x = 0;
    for (size_t i = 0; i < len; i++)
        x |= (uint64_t)p[i] << 8 * i;
    return x;
}

static void rounds(uint64_t v[4], int count) {
    while (count--) {
        v[0] += v[1], v[1] = rotl(v[1], 13) ^ v[0], v[0] = rotl(v[0], 32);
        v[2] += v[3], v[3] = rotl(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = rotl(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = rotl(v[1], 17) ^ v[2], v[2] = rotl(v[2], 32);
    }
}

/* Also for `hashlane audit --library libflow.so --symbol hash_flow`. */
uint64_t hash_flow(const uint8_t *data, size_t len, const uint8_t *seed) {
    uint64_t k0 = load(seed, 8), k1 = load(seed + 8, 8), last = (uint64_t)len << 56;
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                     k1 ^ 0x7465646279746573};
    for (; len >= 8; data += 8, len -= 8) {
        uint64_t word = load(data, 8);
        v[3] ^= word;
        rounds(v, 2);
        v[0] ^= word;
    }
    last |= load(data, len);
    v[3] ^= last;
    rounds(v, 2);
    v[0] ^= last;
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
#endif

static struct entry **bucket(struct table *t, const uint8_t *key, size_t len) {
    return &t->buckets[hash_flow(key, len, t->seed) & t->mask];
}

static int grow(struct table *t) {
    size_t mask = t->mask * 2 + 1, old = t->mask;
    struct entry **from = t->buckets, **to = calloc(mask + 1, sizeof *to);
    if (!to)
        return -1;
    t->buckets = to;
    t->mask = mask;
    /* Each bucket is divided between two new ones, in the same order. */
    for (size_t i = 0; i <= old; i++) {
        struct entry **tail[2] = {&to[i], &to[i + old + 1]};
        for (struct entry *e = from[i]; e; e = e->next) {
            int upper = (hash_flow(e->key, e->len, t->seed) & (old + 1)) != 0;
            *tail[upper] = e;
            tail[upper] = &e->next;
        }
        *tail[0] = *tail[1] = NULL;
    }
    free(from);
    return 0;
}

uint32_t hashlane_audit_abi(void) {
    return HASHLANE_AUDIT_ABI;
}

void *hashlane_audit_init(const uint8_t *seed, size_t capacity) {
    struct table *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    memcpy(t->seed, seed, sizeof t->seed);
    t->mask = 15;
    while (t->mask + 1 < capacity && t->mask < (1u << 24) - 1)
        t->mask = t->mask * 2 + 1;
    t->buckets = calloc(t->mask + 1, sizeof *t->buckets);
    if (!t->buckets) {
        free(t);
        return NULL;
    }
    return t;
}

int hashlane_audit_find(void *table, const uint8_t *key, size_t len) {
    struct table *t = table;
    for (struct entry *e = *bucket(t, key, len); e; e = e->next) {
        t->compared++;
        if (e->len == len && !memcmp(e->key, key, len))
            return 1;
    }
    return 0;
}

int hashlane_audit_insert(void *table, const uint8_t *key, size_t len) {
    struct table *t = table;
    if (hashlane_audit_find(t, key, len))
        return 0;
    if (t->len > t->mask && grow(t))
        return -1;
    struct entry *e = malloc(sizeof *e + len), **tail = bucket(t, key, len);
    if (!e)
        return -1;
    e->next = NULL;
    e->len = len;
    memcpy(e->key, key, len);
    while (*tail)
        tail = &(*tail)->next;
    *tail = e;
    t->len++;
    return 0;
}

size_t hashlane_audit_len(void *table) {
    return ((struct table *)table)->len;
}

uint64_t hashlane_audit_compared(void *table) {
    return ((struct table *)table)->compared;
}

void hashlane_audit_free(void *table) {
    struct table *t = table;
    for (size_t i = 0; i <= t->mask; i++)
        for (struct entry *e = t->buckets[i], *next; e; e = next) {
            next = e->next;
            free(e);
        }
    free(t->buckets);
    free(t);
}
