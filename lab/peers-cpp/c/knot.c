/* Whole messages, written by libknot's packet API without hints, and read by it. */
#include <libknot/libknot.h>
#include <stdlib.h>
#include <string.h>

#include "renderer.h"

HASHLANE_RENDERER(hashlane_knot)
HASHLANE_READER(hashlane_knot)

struct knot {
    knot_pkt_t **inputs;
    size_t count;
    knot_pkt_t *out;
};

void *hashlane_knot_new(void) {
    struct knot *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return NULL;
    }
    self->out = knot_pkt_new(NULL, UINT16_MAX, NULL);
    if (self->out == NULL) {
        free(self);
        return NULL;
    }
    return self;
}

void hashlane_knot_free(void *renderer) {
    struct knot *self = renderer;
    for (size_t i = 0; i < self->count; i++) {
        knot_pkt_free(self->inputs[i]);
    }
    free(self->inputs);
    knot_pkt_free(self->out);
    free(self);
}

/* The message, of at most 65,535 bytes; NULL if it is refused. */
static knot_pkt_t *parsed(const uint8_t *bytes, size_t len) {
    knot_pkt_t *packet = knot_pkt_new(NULL, (uint16_t)len, NULL);
    if (packet == NULL) {
        return NULL;
    }
    memcpy(packet->wire, bytes, len);
    packet->size = len;
    if (knot_pkt_parse(packet, 0) != KNOT_EOK) {
        knot_pkt_free(packet);
        return NULL;
    }
    return packet;
}

int hashlane_knot_add(void *renderer, const uint8_t *bytes, size_t len) {
    struct knot *self = renderer;
    knot_pkt_t **inputs = realloc(self->inputs, (self->count + 1) * sizeof(*inputs));
    if (inputs == NULL || len > UINT16_MAX) {
        self->inputs = inputs != NULL ? inputs : self->inputs;
        return -1;
    }
    self->inputs = inputs;
    knot_pkt_t *input = parsed(bytes, len);
    if (input == NULL) {
        return -1;
    }
    inputs[self->count++] = input;
    return 0;
}

size_t hashlane_knot_render(void *renderer, size_t number, const uint8_t **bytes) {
    struct knot *self = renderer;
    if (number >= self->count) {
        return 0;
    }
    const knot_pkt_t *input = self->inputs[number];
    knot_pkt_t *out = self->out;
    knot_pkt_clear(out);
    memcpy(out->wire, input->wire, 4);
    if (knot_pkt_put_question(out, knot_pkt_qname(input), knot_pkt_qclass(input), knot_pkt_qtype(input)) !=
        KNOT_EOK) {
        return 0;
    }
    for (int id = KNOT_ANSWER; id <= KNOT_ADDITIONAL; id++) {
        const knot_pktsection_t *section = knot_pkt_section(input, id);
        if (knot_pkt_begin(out, id) != KNOT_EOK) {
            return 0;
        }
        for (uint16_t i = 0; i < section->count; i++) {
            if (knot_pkt_put(out, KNOT_COMPR_HINT_NONE, knot_pkt_rr(section, i), 0) != KNOT_EOK) {
                return 0;
            }
        }
    }
    *bytes = out->wire;
    return out->size;
}

int64_t hashlane_knot_read(const uint8_t *bytes, size_t len) {
    knot_pkt_t *packet = len <= UINT16_MAX ? parsed(bytes, len) : NULL;
    if (packet == NULL) {
        return -1;
    }
    int64_t count = 0;
    for (int id = KNOT_ANSWER; id <= KNOT_ADDITIONAL; id++) {
        count += knot_pkt_section(packet, id)->count;
    }
    knot_pkt_free(packet);
    return count;
}
