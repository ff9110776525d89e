/* Whole messages, written by ldns into one buffer, and read by it. */
#include <ldns/ldns.h>
#include <stdlib.h>
#include <string.h>

#include "renderer.h"

HASHLANE_RENDERER(hashlane_ldns)
HASHLANE_READER(hashlane_ldns)

struct ldns {
    ldns_pkt **inputs;
    size_t count;
    ldns_buffer *out;
};

void *hashlane_ldns_new(void) {
    struct ldns *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return NULL;
    }
    /* The room that ldns_pkt2wire() makes for each message. */
    self->out = ldns_buffer_new(LDNS_MAX_PACKETLEN);
    if (self->out == NULL) {
        free(self);
        return NULL;
    }
    return self;
}

void hashlane_ldns_free(void *renderer) {
    struct ldns *self = renderer;
    for (size_t i = 0; i < self->count; i++) {
        ldns_pkt_free(self->inputs[i]);
    }
    free(self->inputs);
    ldns_buffer_free(self->out);
    free(self);
}

int hashlane_ldns_add(void *renderer, const uint8_t *bytes, size_t len) {
    struct ldns *self = renderer;
    ldns_pkt **inputs = realloc(self->inputs, (self->count + 1) * sizeof(*inputs));
    if (inputs == NULL) {
        return -1;
    }
    self->inputs = inputs;
    if (ldns_wire2pkt(&inputs[self->count], bytes, len) != LDNS_STATUS_OK) {
        return -1;
    }
    self->count++;
    return 0;
}

size_t hashlane_ldns_render(void *renderer, size_t number, const uint8_t **bytes) {
    struct ldns *self = renderer;
    if (number >= self->count) {
        return 0;
    }
    ldns_buffer_clear(self->out);
    if (ldns_pkt2buffer_wire(self->out, self->inputs[number]) != LDNS_STATUS_OK) {
        return 0;
    }
    /* The buffer grows with the message, and moves then. */
    *bytes = ldns_buffer_begin(self->out);
    return ldns_buffer_position(self->out);
}

int64_t hashlane_ldns_read(const uint8_t *bytes, size_t len) {
    ldns_pkt *packet = NULL;
    if (ldns_wire2pkt(&packet, bytes, len) != LDNS_STATUS_OK) {
        return -1;
    }
    size_t count = ldns_rr_list_rr_count(ldns_pkt_answer(packet)) +
                   ldns_rr_list_rr_count(ldns_pkt_authority(packet)) +
                   ldns_rr_list_rr_count(ldns_pkt_additional(packet));
    ldns_pkt_free(packet);
    return (int64_t)count;
}
