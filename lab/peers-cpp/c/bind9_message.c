/* Whole messages, written and read by BIND's libdns. */
#include <isc/buffer.h>
#include <isc/mem.h>
#include <dns/compress.h>
#include <dns/message.h>
#include <limits.h>
#include <stdlib.h>

#include "renderer.h"

HASHLANE_RENDERER(hashlane_bind9_message)
HASHLANE_READER(hashlane_bind9_message)

struct bind9_message {
    isc_mem_t *mem;
    dns_message_t **inputs;
    size_t count;
    unsigned char out[UINT16_MAX];
};

void *hashlane_bind9_message_new(void) {
    struct bind9_message *self = calloc(1, sizeof(*self));
    if (self != NULL) {
        isc_mem_create(&self->mem);
    }
    return self;
}

void hashlane_bind9_message_free(void *renderer) {
    struct bind9_message *self = renderer;
    for (size_t i = 0; i < self->count; i++) {
        dns_message_detach(&self->inputs[i]);
    }
    free(self->inputs);
    isc_mem_destroy(&self->mem);
    free(self);
}

/* The message, of at most UINT_MAX bytes; NULL if it is refused. */
static dns_message_t *parsed(isc_mem_t *mem, const uint8_t *bytes, size_t len, unsigned int options) {
    isc_buffer_t source;
    isc_buffer_constinit(&source, bytes, (unsigned int)len);
    isc_buffer_add(&source, (unsigned int)len);
    dns_message_t *message = NULL;
    dns_message_create(mem, DNS_MESSAGE_INTENTPARSE, &message);
    if (dns_message_parse(message, &source, options) != ISC_R_SUCCESS) {
        dns_message_detach(&message);
    }
    return message;
}

int hashlane_bind9_message_add(void *renderer, const uint8_t *bytes, size_t len) {
    struct bind9_message *self = renderer;
    dns_message_t **inputs = realloc(self->inputs, (self->count + 1) * sizeof(*inputs));
    if (inputs == NULL || len > UINT_MAX) {
        self->inputs = inputs != NULL ? inputs : self->inputs;
        return -1;
    }
    self->inputs = inputs;
    /* One name and one set for each record. */
    dns_message_t *input = parsed(self->mem, bytes, len, DNS_MESSAGEPARSE_PRESERVEORDER);
    if (input == NULL) {
        return -1;
    }
    input->from_to_wire = DNS_MESSAGE_INTENTRENDER;
    inputs[self->count++] = input;
    return 0;
}

size_t hashlane_bind9_message_render(void *renderer, size_t number, const uint8_t **bytes) {
    struct bind9_message *self = renderer;
    isc_buffer_t buffer;
    dns_compress_t compress;
    if (number >= self->count) {
        return 0;
    }
    dns_message_t *message = self->inputs[number];
    /* The marks of the last time, that a set was rendered. */
    dns_message_renderreset(message);
    if (dns_compress_init(&compress, -1, self->mem) != ISC_R_SUCCESS) {
        return 0;
    }
    isc_buffer_init(&buffer, self->out, sizeof(self->out));
    isc_result_t result = dns_message_renderbegin(message, &compress, &buffer);
    for (int section = DNS_SECTION_QUESTION; section < DNS_SECTION_MAX && result == ISC_R_SUCCESS; section++) {
        result = dns_message_rendersection(message, section, 0);
    }
    if (result == ISC_R_SUCCESS) {
        result = dns_message_renderend(message);
    }
    dns_compress_invalidate(&compress);
    *bytes = self->out;
    return result == ISC_R_SUCCESS ? isc_buffer_usedlength(&buffer) : 0;
}

int64_t hashlane_bind9_message_read(const uint8_t *bytes, size_t len) {
    /* Made once for each thread, as a server does. */
    static _Thread_local isc_mem_t *mem;
    if (mem == NULL) {
        isc_mem_create(&mem);
    }
    dns_message_t *message = len <= UINT_MAX ? parsed(mem, bytes, len, 0) : NULL;
    if (message == NULL) {
        return -1;
    }
    int64_t count = 0;
    for (int section = DNS_SECTION_ANSWER; section < DNS_SECTION_MAX; section++) {
        count += message->counts[section];
    }
    dns_message_detach(&message);
    return count;
}
