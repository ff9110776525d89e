/*
 * The source's program, in our words: names in three encodings, and four ways of hashing their prefixes by the
 * CRC32C instruction of SSE4.2, 8 bytes at a time and the rest by a ladder of 4, 2 and 1. It trusts its names,
 * as the source's does. Each way is timed as the study times its own: see `answer`.
 */
#include <nmmintrin.h>

/* Most components of a name. */
#define MOST 255

static uint64_t load64(const uint8_t *at) { uint64_t word; memcpy(&word, at, 8); return word; }
static uint32_t load32(const uint8_t *at) { uint32_t word; memcpy(&word, at, 4); return word; }
static uint16_t load16(const uint8_t *at) { uint16_t word; memcpy(&word, at, 2); return word; }
static inline size_t big16(const uint8_t *at) { return (size_t)at[0] << 8 | at[1]; }

static inline uint32_t ladder(uint32_t crc, const uint8_t *at, size_t length)
{
	const uint8_t *words = at + (length & ~(size_t)7);
	for (; at < words; at += 8)
		crc = (uint32_t)_mm_crc32_u64(crc, load64(at));
	if (length & 4) {
		crc = _mm_crc32_u32(crc, load32(at));
		at += 4;
	}
	if (length & 2) {
		crc = _mm_crc32_u16(crc, load16(at));
		at += 2;
	}
	if (length & 1)
		crc = _mm_crc32_u8(crc, *at);
	return crc;
}

/* A number of NDN: 1, 3, 5 or 9 bytes. */
static inline size_t number(const uint8_t **at)
{
	size_t first = *(*at)++;
	if (__builtin_expect(first < 253, 1))
		return first;
	size_t value = 0;
	for (int left = 2 << (first - 253); left > 0; left--)
		value = value << 8 | *(*at)++;
	return value;
}

/* A name that is walked over: the hashed bytes, and what the encoding needs for the next end. */
struct walk {
	const uint8_t *bytes;
	const uint8_t *next;
	const uint8_t *last;
};

static inline struct walk offset_open(const uint8_t *name)
{
	const uint8_t *index = name + 1, *last = index + 3 * (size_t)name[0];
	return (struct walk){ last + 2, index, last };
}

static inline size_t offset_end(struct walk *walk)
{
	size_t end = big16(walk->next + 1);
	walk->next += 3;
	return end;
}

/* The end of a component by its place: an offset name has it, the others are walked anew. */
static inline int offset_at(const uint8_t *name, size_t place, size_t *end)
{
	if (place >= name[0])
		return 0;
	*end = big16(name + 2 + 3 * place);
	return 1;
}

static inline struct walk ccnx_open(const uint8_t *name)
{
	return (struct walk){ name + 4, name + 4, name + 4 + big16(name + 2) };
}

static inline size_t ccnx_end(struct walk *walk)
{
	walk->next += 4 + big16(walk->next + 2);
	return (size_t)(walk->next - walk->bytes);
}

static inline struct walk ndn_open(const uint8_t *name)
{
	const uint8_t *at = name;
	number(&at);
	size_t length = number(&at);
	return (struct walk){ at, at, at + length };
}

static inline size_t ndn_end(struct walk *walk)
{
	const uint8_t *at = walk->next;
	number(&at);
	size_t length = number(&at);
	walk->next = at + length;
	return (size_t)(walk->next - walk->bytes);
}

#define WALKED_AT(encoding)                                                                           \
	static inline int encoding##_at(const uint8_t *name, size_t place, size_t *end)               \
	{                                                                                             \
		struct walk walk = encoding##_open(name);                                             \
		for (size_t passed = 0; walk.next < walk.last; passed++) {                            \
			*end = encoding##_end(&walk);                                                 \
			if (passed == place)                                                          \
				return 1;                                                             \
		}                                                                                     \
		return 0;                                                                             \
	}
WALKED_AT(ccnx)
WALKED_AT(ndn)

/* The four ways: each puts the hashes of all prefixes into `out` and returns their number. */
#define WAYS(encoding)                                                                                \
	static inline size_t encoding##_one_by_one(const uint8_t *name, uint32_t *out)                \
	{                                                                                             \
		struct walk walk = encoding##_open(name);                                             \
		uint32_t crc = ~0u;                                                                   \
		size_t from = 0, count = 0;                                                           \
		while (walk.next < walk.last) {                                                       \
			size_t end = encoding##_end(&walk);                                           \
			crc = ladder(crc, walk.bytes + from, end - from);                             \
			out[count++] = ~crc;                                                          \
			from = end;                                                                   \
		}                                                                                     \
		return count;                                                                         \
	}                                                                                             \
	static inline size_t encoding##_all_at_once(const uint8_t *name, uint32_t *out)               \
	{                                                                                             \
		const uint8_t *bytes = encoding##_open(name).bytes;                                   \
		size_t count = 0;                                                                     \
		for (size_t end; encoding##_at(name, count, &end); count++)                           \
			out[count] = ~ladder(~0u, bytes, end);                                        \
		return count;                                                                         \
	}                                                                                             \
	static inline size_t encoding##_one_by_one_longest_first(const uint8_t *name, uint32_t *out)  \
	{                                                                                             \
		uint32_t kept[MOST];                                                                  \
		size_t count = encoding##_one_by_one(name, kept);                                     \
		for (size_t at = 0; at < count; at++)                                                 \
			out[at] = kept[count - 1 - at];                                               \
		return count;                                                                         \
	}                                                                                             \
	static inline size_t encoding##_all_at_once_longest_first(const uint8_t *name, uint32_t *out) \
	{                                                                                             \
		struct walk walk = encoding##_open(name);                                             \
		uint16_t ends[MOST];                                                                  \
		size_t count = 0;                                                                     \
		while (walk.next < walk.last)                                                         \
			ends[count++] = (uint16_t)encoding##_end(&walk);                              \
		for (size_t at = 0; at < count; at++)                                                 \
			out[at] = ~ladder(~0u, walk.bytes, ends[count - 1 - at]);                     \
		return count;                                                                         \
	}
WAYS(offset)
WAYS(ccnx)
WAYS(ndn)

/* No work: the cost of the probe itself. */
static inline size_t nothing(const uint8_t *name, uint32_t *out)
{
	(void)name, (void)out;
	return 0;
}

/* Names of one encoding, end to end. */
struct names {
	uint8_t *bytes;
	uint32_t *ends;
};

static struct names loaded[3];
static uint32_t hashes[MOST];

static const uint8_t *name_at(const struct names *names, size_t index)
{
	return names->bytes + (index > 0 ? names->ends[index - 1] : 0);
}

/* The names of a block, as the study has them: one pointer each. */
static const uint8_t *block[4096];

static size_t take(const struct names *names, size_t first, size_t count)
{
	for (size_t at = 0; at < count; at++)
		block[at] = name_at(names, first + at);
	return count;
}

/* Timed loops over the block, for each way: `units` names between two readings, or all of them. */
#define TIMED(way)                                                                                    \
	static void __attribute__((noinline)) way##_each(size_t count, size_t units, uint32_t *counts) \
	{                                                                                             \
		for (size_t at = 0; at < count;) {                                                    \
			size_t last = count - at < units ? count : at + units;                        \
			uint64_t before = probe_start();                                              \
			for (; at < last; at++) {                                                     \
				const uint8_t *name = block[at];                                      \
				uint32_t *out = hashes;                                               \
				PROBE_HIDE(name);                                                     \
				PROBE_HIDE(out);                                                      \
				way(name, out);                                                       \
				PROBE_HIDE(out);                                                      \
				_mm_lfence();                                                         \
			}                                                                             \
			*counts++ = (uint32_t)(probe_stop() - before);                                \
		}                                                                                     \
	}                                                                                             \
	static uint64_t __attribute__((noinline)) way##_stream(size_t count)                          \
	{                                                                                             \
		uint64_t before = probe_start();                                                      \
		for (size_t at = 0; at < count; at++) {                                               \
			const uint8_t *name = block[at];                                              \
			uint32_t *out = hashes;                                                       \
			PROBE_HIDE(name);                                                             \
			PROBE_HIDE(out);                                                              \
			way(name, out);                                                               \
			PROBE_HIDE(out);                                                              \
		}                                                                                     \
		return probe_stop() - before;                                                         \
	}                                                                                             \
	static uint64_t way##_sum(const struct names *names, size_t first, size_t count)              \
	{                                                                                             \
		uint64_t sum = 0;                                                                     \
		for (size_t at = 0; at < count; at++) {                                               \
			size_t found = way(name_at(names, first + at), hashes);                       \
			for (size_t n = 0; n < found; n++)                                            \
				sum += hashes[n];                                                     \
		}                                                                                     \
		return sum;                                                                           \
	}

#define OF_ENCODING(encoding)                   \
	TIMED(encoding##_one_by_one)            \
	TIMED(encoding##_all_at_once)           \
	TIMED(encoding##_one_by_one_longest_first) \
	TIMED(encoding##_all_at_once_longest_first)
OF_ENCODING(offset)
OF_ENCODING(ccnx)
OF_ENCODING(ndn)
TIMED(nothing)

#define ENTRY(way) { way##_each, way##_stream, way##_sum }
#define ENTRIES(encoding)                                                        \
	ENTRY(encoding##_one_by_one), ENTRY(encoding##_all_at_once),             \
		ENTRY(encoding##_one_by_one_longest_first),                      \
		ENTRY(encoding##_all_at_once_longest_first), ENTRY(nothing)

/* By encoding and way, in the order of the study. */
static const struct {
	void (*each)(size_t, size_t, uint32_t *);
	uint64_t (*stream)(size_t);
	uint64_t (*sum)(const struct names *, size_t, size_t);
} ways[] = { ENTRIES(offset), ENTRIES(ccnx), ENTRIES(ndn) };

/* A request: the words of the study, in its order. */
struct request {
	uint64_t what, encoding, way, first, count, warm_first, warm_count, units;
};

enum { LOAD, EACH, STREAM, SUM };

static void load(const struct request *request)
{
	struct names *names = &loaded[request->encoding];
	free(names->bytes);
	free(names->ends);
	/* A word is read at once, also at the last byte. */
	names->bytes = probe_memory(request->units + 8);
	names->ends = probe_memory(4 * request->count);
	probe_read(names->ends, 4 * request->count);
	probe_read(names->bytes, request->units);
}

static void answer(const struct request *request)
{
	static uint32_t counts[4096];
	const struct names *names = &loaded[request->encoding];
	const size_t at = request->encoding * 5 + request->way, units = request->units;
	uint64_t word = 0;
	if (request->what == LOAD) {
		load(request);
		probe_write(&word, 8);
		return;
	}
	if (request->what == SUM) {
		word = ways[at].sum(names, request->first, request->count);
		probe_write(&word, 8);
		return;
	}
	/* The block into the first-level cache, and the names before it through the code. */
	for (size_t n = 0; n < request->count; n++) {
		const volatile uint8_t *name = name_at(names, request->first + n);
		const volatile uint8_t *end = name_at(names, request->first + n + 1);
		for (; name < end; name += 64)
			(void)*name;
		(void)end[-1];
	}
	ways[at].each(take(names, request->warm_first, request->warm_count), units, counts);
	size_t count = take(names, request->first, request->count);
	if (request->what == STREAM) {
		word = ways[at].stream(count);
		probe_write(&word, 8);
		return;
	}
	ways[at].each(count, units, counts);
	probe_write(counts, 4 * ((count + units - 1) / units));
}

int main(void)
{
	for (struct request request;;) {
		probe_read(&request, sizeof request);
		answer(&request);
	}
}
