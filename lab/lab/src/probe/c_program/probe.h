/*
 * The common part of the C programs that studies time: the counter with the barriers of the other probes,
 * whole requests in and whole replies out. It stands before the program's own text.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

/* The counter before the timed code. */
static inline uint64_t probe_start(void)
{
	_mm_lfence();
	uint64_t count = __rdtsc();
	_mm_lfence();
	return count;
}

/* The counter after the timed code. */
static inline uint64_t probe_stop(void)
{
	unsigned int processor;
	uint64_t count = __rdtscp(&processor);
	_mm_lfence();
	return count;
}

/* Hides a pointer's origin and the memory behind it from the compiler: results are written, inputs read. */
#define PROBE_HIDE(pointer) __asm__ volatile("" : "+r"(pointer) : : "memory")

/* Reads `size` bytes; the program ends when the study closes the pipe. */
static void probe_read(void *to, size_t size)
{
	for (char *at = to; size > 0;) {
		ssize_t taken = read(0, at, size);
		if (taken < 0 && errno == EINTR)
			continue;
		if (taken <= 0)
			_exit(taken < 0);
		at += taken;
		size -= (size_t)taken;
	}
}

/* Writes `size` bytes. */
static void probe_write(const void *from, size_t size)
{
	for (const char *at = from; size > 0;) {
		ssize_t given = write(1, at, size);
		if (given < 0 && errno == EINTR)
			continue;
		if (given <= 0)
			_exit(1);
		at += given;
		size -= (size_t)given;
	}
}

/* Memory for `size` bytes; the program ends without it, which the study reports. */
static void *probe_memory(size_t size)
{
	void *memory = malloc(size > 0 ? size : 1);
	if (!memory)
		_exit(12);
	return memory;
}
