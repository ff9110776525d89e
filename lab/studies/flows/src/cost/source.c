/*
 * Linux's hash of connections with the source's candidates for the foreign address, in our words: what
 * q2ven/inet6_ehashfn compiles out of the kernel. A secret is drawn when it is first needed, in an arm that a
 * program enters once; the simulator walks through it.
 */

struct address {
	uint32_t words[4];
};

struct net {
	uint32_t mix;
};

static uint32_t ehash_secret, address_secret;

/* The source's key is public: the one of the kernel's test of SipHash. The study sets its own. */
#ifdef SOURCE_KEY
#define KEY_0 0x0706050403020100u
#define KEY_1 0x0f0e0d0c0b0a0908u
#else
static uint64_t key[2];
#define KEY_0 key[0]
#define KEY_1 key[1]
#endif

#define DRAW_ONCE(secret)                        \
	do {                                     \
		if (!secret)                     \
			secret = (uint32_t)rand(); \
	} while (0)

static inline uint32_t rotated32(uint32_t word, int by) { return word << by | word >> (32 - by); }
static inline uint64_t rotated64(uint64_t word, int by) { return word << by | word >> (64 - by); }

/* Bob Jenkins's lookup3 (2006): the last step over three words. */
static inline uint32_t jhash_final(uint32_t a, uint32_t b, uint32_t c)
{
	c ^= b; c -= rotated32(b, 14);
	a ^= c; a -= rotated32(c, 11);
	b ^= a; b -= rotated32(a, 25);
	c ^= b; c -= rotated32(b, 16);
	a ^= c; a -= rotated32(c, 4);
	b ^= a; b -= rotated32(a, 14);
	c ^= b; c -= rotated32(b, 24);
	return c;
}

#define JHASH_INITVAL 0xdeadbeefu

static inline uint32_t jhash_3words(uint32_t a, uint32_t b, uint32_t c, uint32_t secret)
{
	uint32_t start = JHASH_INITVAL + 12 + secret;
	return jhash_final(a + start, b + start, c + start);
}

static inline uint32_t jhash_4words(const uint32_t *words, uint32_t secret)
{
	uint32_t a, b, c;
	a = b = c = JHASH_INITVAL + 16 + secret;
	a += words[0]; b += words[1]; c += words[2];
	a -= c; a ^= rotated32(c, 4);  c += b;
	b -= a; b ^= rotated32(a, 6);  a += c;
	c -= b; c ^= rotated32(b, 8);  b += a;
	a -= c; a ^= rotated32(c, 16); c += b;
	b -= a; b ^= rotated32(a, 19); a += c;
	c -= b; c ^= rotated32(b, 4);  b += a;
	return jhash_final(a + words[3], b, c);
}

/* SipHash (Aumasson and Bernstein 2012) of two words, by so many rounds each, and at the end. */
static inline __attribute__((always_inline)) uint64_t sip(uint64_t first, uint64_t second, int each, int end)
{
	uint64_t a = 0x736f6d6570736575u ^ KEY_0, b = 0x646f72616e646f6du ^ KEY_1;
	uint64_t c = 0x6c7967656e657261u ^ KEY_0, d = 0x7465646279746573u ^ KEY_1;
#define ROUND                                                        \
	do {                                                         \
		a += b; b = rotated64(b, 13); b ^= a; a = rotated64(a, 32); \
		c += d; d = rotated64(d, 16); d ^= c;                \
		a += d; d = rotated64(d, 21); d ^= a;                \
		c += b; b = rotated64(b, 17); b ^= c; c = rotated64(c, 32); \
	} while (0)
	/* No loop: the simulator would walk through one round only. */
#define ABSORB(word)                                                 \
	do {                                                         \
		d ^= (word);                                         \
		ROUND;                                               \
		if (each > 1)                                        \
			ROUND;                                       \
		a ^= (word);                                         \
	} while (0)
	ABSORB(first);
	ABSORB(second);
	ABSORB((uint64_t)16 << 56);
	c ^= 0xff;
	ROUND;
	ROUND;
	ROUND;
	if (end > 3)
		ROUND;
	return a ^ b ^ c ^ d;
}

static inline uint64_t pair(const uint32_t *words) { return (uint64_t)words[1] << 32 | words[0]; }

static inline uint32_t of_base(const uint32_t *words)
{
	return jhash_3words(words[0] ^ words[1], words[2], words[3], address_secret);
}

static inline uint32_t of_jhash2(const uint32_t *words) { return jhash_4words(words, address_secret); }

static inline uint32_t of_hsiphash(const uint32_t *words)
{
	return (uint32_t)sip(pair(words), pair(words + 2), 1, 3);
}

static inline uint32_t of_siphash(const uint32_t *words)
{
	return (uint32_t)sip(pair(words), pair(words + 2), 2, 4);
}

#define EHASH(name)                                                                              \
	__attribute__((noinline)) uint32_t name(const struct net *net, const struct address *local, \
						uint16_t local_port, const struct address *foreign, \
						uint16_t foreign_port)                           \
	{                                                                                        \
		DRAW_ONCE(ehash_secret);                                                        \
		DRAW_ONCE(address_secret);                                                      \
		uint32_t ports = (uint32_t)local_port << 16 | foreign_port;                      \
		return jhash_3words(local->words[3], of_##name(foreign->words), ports,           \
				    ehash_secret + net->mix);                                    \
	}
EHASH(base)
EHASH(jhash2)
EHASH(hsiphash)
EHASH(siphash)

/* The first proposal: a word of the foreign address goes with the local one, and the ports go in twice. */
__attribute__((noinline)) uint32_t v1(const struct net *net, const struct address *local, uint16_t local_port,
				      const struct address *foreign, uint16_t foreign_port)
{
	DRAW_ONCE(ehash_secret);
	DRAW_ONCE(address_secret);
	const uint32_t *words = foreign->words;
	uint32_t ports = (uint32_t)local_port << 16 | foreign_port;
	uint32_t near = jhash_3words(local->words[3], ports, words[0], address_secret);
	uint32_t far = jhash_3words(words[1], words[2], words[3], address_secret);
	return jhash_3words(near, far, ports, ehash_secret + net->mix);
}
