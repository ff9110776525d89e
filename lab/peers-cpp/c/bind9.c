/* Names alone, written by BIND's libdns. All names together are one input. */
#include <isc/buffer.h>
#include <isc/mem.h>
#include <dns/compress.h>
#include <dns/name.h>
#include <stdlib.h>
#include <string.h>

#include "renderer.h"

HASHLANE_RENDERER(hashlane_bind9)

struct one {
    unsigned char bytes[DNS_NAME_MAXWIRE];
    dns_offsets_t offsets;
    dns_name_t name;
};

struct bind9 {
    isc_mem_t *mem;
    struct one **names;
    size_t count;
    unsigned char out[UINT16_MAX];
};

void *hashlane_bind9_new(void) {
    struct bind9 *self = calloc(1, sizeof(*self));
    if (self != NULL) {
        isc_mem_create(&self->mem);
    }
    return self;
}

void hashlane_bind9_free(void *renderer) {
    struct bind9 *self = renderer;
    for (size_t i = 0; i < self->count; i++) {
        free(self->names[i]);
    }
    free(self->names);
    isc_mem_destroy(&self->mem);
    free(self);
}

int hashlane_bind9_add(void *renderer, const uint8_t *bytes, size_t len) {
    struct bind9 *self = renderer;
    if (len > DNS_NAME_MAXWIRE) {
        return -1;
    }
    struct one **names = realloc(self->names, (self->count + 1) * sizeof(*names));
    if (names == NULL) {
        return -1;
    }
    self->names = names;
    struct one *one = calloc(1, sizeof(*one));
    if (one == NULL) {
        return -1;
    }
    memcpy(one->bytes, bytes, len);
    isc_region_t region = {.base = one->bytes, .length = (unsigned int)len};
    dns_name_init(&one->name, one->offsets);
    dns_name_fromregion(&one->name, &region);
    names[self->count++] = one;
    return 0;
}

size_t hashlane_bind9_render(void *renderer, size_t number, const uint8_t **bytes) {
    static const unsigned char header[12];
    struct bind9 *self = renderer;
    isc_buffer_t buffer;
    dns_compress_t compress;
    if (number != 0) {
        return 0;
    }
    isc_buffer_init(&buffer, self->out, sizeof(self->out));
    isc_buffer_putmem(&buffer, header, sizeof(header));
    if (dns_compress_init(&compress, -1, self->mem) != ISC_R_SUCCESS) {
        return 0;
    }
    dns_compress_setmethods(&compress, DNS_COMPRESS_GLOBAL14);
    isc_result_t result = ISC_R_SUCCESS;
    for (size_t i = 0; i < self->count && result == ISC_R_SUCCESS; i++) {
        result = dns_name_towire(&self->names[i]->name, &compress, &buffer);
    }
    dns_compress_invalidate(&compress);
    *bytes = self->out;
    return result == ISC_R_SUCCESS ? isc_buffer_usedlength(&buffer) : 0;
}
