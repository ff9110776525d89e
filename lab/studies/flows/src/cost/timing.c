/*
 * The hashes of `source.c` timed as the study times its own: each a call, over tuples in the first-level
 * cache, of independent tuples or each fetched after the hash before it.
 */

struct tuple {
	struct address local, foreign;
	uint16_t local_port, foreign_port;
	uint32_t unused;
};

static struct net network;
static struct tuple *tuples;
static size_t tuple_count;

#define HASH(name, tuple) \
	name(net, &(tuple)->local, (tuple)->local_port, &(tuple)->foreign, (tuple)->foreign_port)

#define TIMED(name)                                                       \
	static uint64_t name##_throughput(void)                           \
	{                                                                 \
		const struct net *net = &network;                         \
		PROBE_HIDE(net);                                          \
		uint64_t before = probe_start();                          \
		for (size_t at = 0; at < tuple_count; at++) {             \
			uint32_t hash = HASH(name, &tuples[at]);          \
			PROBE_HIDE(hash);                                 \
		}                                                         \
		return probe_stop() - before;                             \
	}                                                                 \
	static uint64_t name##_latency(void)                              \
	{                                                                 \
		const struct net *net = &network;                         \
		size_t nothing = 0;                                       \
		PROBE_HIDE(net);                                          \
		PROBE_HIDE(nothing);                                      \
		uint64_t before = probe_start();                          \
		for (size_t at = 0; at < tuple_count;)                    \
			at += 1 + (HASH(name, &tuples[at]) & nothing);    \
		return probe_stop() - before;                             \
	}                                                                 \
	static uint64_t name##_sum(void)                                  \
	{                                                                 \
		const struct net *net = &network;                         \
		uint64_t sum = 0;                                         \
		for (size_t at = 0; at < tuple_count; at++)               \
			sum += HASH(name, &tuples[at]);                   \
		return sum;                                               \
	}
TIMED(base)
TIMED(v1)
TIMED(jhash2)
TIMED(hsiphash)
TIMED(siphash)

#define ENTRY(name) { name##_throughput, name##_latency, name##_sum }

/* In the order of the study. */
static uint64_t (*const timed[][3])(void) = {
	ENTRY(base), ENTRY(v1), ENTRY(jhash2), ENTRY(hsiphash), ENTRY(siphash),
};

/* A request: the words of the study, in its order. */
struct request {
	uint64_t what, hash, passes, count, ehash, address, mix, key_0, key_1;
};

enum { THROUGHPUT, LATENCY, SUM, LOAD };

static void load(const struct request *request)
{
	ehash_secret = (uint32_t)request->ehash;
	address_secret = (uint32_t)request->address;
	network.mix = (uint32_t)request->mix;
	key[0] = request->key_0;
	key[1] = request->key_1;
	free(tuples);
	tuple_count = request->count;
	tuples = probe_memory(tuple_count * sizeof *tuples);
	memset(tuples, 0, tuple_count * sizeof *tuples);
	for (size_t at = 0; at < tuple_count; at++) {
		/* Addresses and ports in network order; the local port is a number here, as in the kernel. */
		unsigned char bytes[36];
		probe_read(bytes, sizeof bytes);
		memcpy(&tuples[at].local, bytes, 16);
		memcpy(&tuples[at].foreign, bytes + 16, 16);
		tuples[at].local_port = (uint16_t)(bytes[32] << 8 | bytes[33]);
		memcpy(&tuples[at].foreign_port, bytes + 34, 2);
	}
}

int main(void)
{
	for (struct request request;;) {
		probe_read(&request, sizeof request);
		uint64_t total = 0;
		if (request.what == LOAD) {
			load(&request);
		} else {
			uint64_t (*once)(void) = timed[request.hash][request.what];
			if (request.what == THROUGHPUT)
				once();
			for (uint64_t pass = 0; pass < request.passes; pass++)
				total += once();
		}
		probe_write(&total, sizeof total);
	}
}
