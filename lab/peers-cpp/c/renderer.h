/* What adapters of DNS libraries export: renderers and readers. */
#ifndef HASHLANE_RENDERER_H
#define HASHLANE_RENDERER_H

#include <stddef.h>
#include <stdint.h>

/* Inputs are numbered from 0 in the order of `add`. */
struct hashlane_renderer {
    void *(*make)(void);
    void (*free)(void *renderer);
    /* Copies and parses a message or a name in wire form; 0 on success. */
    int (*add)(void *renderer, const uint8_t *bytes, size_t len);
    /* Renders; the length, or 0 if it cannot. `out` stays valid until the next call. */
    size_t (*render)(void *renderer, size_t number, const uint8_t **out);
};

#define HASHLANE_RENDERER(prefix)                                                                      \
    void *prefix##_new(void);                                                                          \
    void prefix##_free(void *renderer);                                                                \
    int prefix##_add(void *renderer, const uint8_t *bytes, size_t len);                                \
    size_t prefix##_render(void *renderer, size_t number, const uint8_t **out);                        \
    extern const struct hashlane_renderer prefix;                                                      \
    const struct hashlane_renderer prefix = {prefix##_new, prefix##_free, prefix##_add, prefix##_render};

struct hashlane_reader {
    /* Reads a message with all its names whole; the number of its records, or -1 if it is refused. */
    int64_t (*read)(const uint8_t *bytes, size_t len);
};

#define HASHLANE_READER(prefix)                                                                        \
    int64_t prefix##_read(const uint8_t *bytes, size_t len);                                           \
    extern const struct hashlane_reader prefix##_reader;                                               \
    const struct hashlane_reader prefix##_reader = {prefix##_read};

#endif
