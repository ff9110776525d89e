// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * KUnit tests of the hash of established connections, inet_ehashfn() and inet6_ehashfn(), under the
 * keys that this kernel has drawn.
 */

#include <kunit/test.h>
#include <linux/in6.h>
#include <linux/string.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/net_namespace.h>

/* A tuple as bytes, so that each bit can be flipped: both addresses and both ports. */
#define TUPLE_V6 36
#define TUPLE_V4 12

/* Tuples of which each bit is flipped. */
#define BASES 16

/* Two hashes of 32 bits that are unlike may be equal by chance: 1 in 2^32, so never twice. */
#define CHANCE 1

#define CHAINS 1024
#define FLOWS 4096

/* Four flows a chain are expected. By chance one of 1024 has 25 once in 10^7 boots. */
#define LONGEST 24

/* Numbers that look random, the same at each boot: the keys are what differs. */
static u32 next(u32 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void fill(u8 *bytes, unsigned int count, u32 *state)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		bytes[i] = next(state) >> 24;
}

static u32 hash_v6(const u8 *tuple)
{
	struct in6_addr laddr, faddr;
	__be16 fport;
	u16 lport;

	memcpy(&laddr, tuple, 16);
	memcpy(&faddr, tuple + 16, 16);
	memcpy(&lport, tuple + 32, 2);
	memcpy(&fport, tuple + 34, 2);
	return inet6_ehashfn(&init_net, &laddr, lport, &faddr, fport);
}

static u32 hash_v4(const u8 *tuple)
{
	__be32 laddr, faddr;
	__be16 fport;
	u16 lport;

	memcpy(&laddr, tuple, 4);
	memcpy(&faddr, tuple + 4, 4);
	memcpy(&lport, tuple + 8, 2);
	memcpy(&fport, tuple + 10, 2);
	return inet_ehashfn(&init_net, laddr, lport, faddr, fport);
}

static void every_bit(struct kunit *test, u32 (*hash)(const u8 *tuple), unsigned int count)
{
	unsigned int bit, base, unmoved;
	u8 tuple[TUPLE_V6];
	u32 state, before;

	for (bit = 0; bit < 8 * count; bit++) {
		state = 2015;
		unmoved = 0;
		for (base = 0; base < BASES; base++) {
			fill(tuple, count, &state);
			before = hash(tuple);
			tuple[bit / 8] ^= 1 << bit % 8;
			unmoved += hash(tuple) == before;
		}
		KUNIT_EXPECT_LE_MSG(test, unmoved, CHANCE,
				    "bit %u of byte %u does not move the hash", bit % 8, bit / 8);
	}
}

/* Flows that differ in four bytes alone are spread over buckets. */
static void spread(struct kunit *test, u32 (*hash)(const u8 *tuple), unsigned int count,
		   unsigned int from)
{
	u32 state = 2015, longest = 0, flow, chain;
	u8 tuple[TUPLE_V6];
	u32 *chains;

	chains = kunit_kzalloc(test, CHAINS * sizeof(*chains), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, chains);
	fill(tuple, count, &state);
	for (flow = 0; flow < FLOWS; flow++) {
		/* All different: a multiple of an odd number. */
		u32 number = flow * 0x9e3779b1;

		memcpy(tuple + from, &number, sizeof(number));
		chain = hash(tuple) % CHAINS;
		chains[chain]++;
		longest = max(longest, chains[chain]);
	}
	KUNIT_EXPECT_LE_MSG(test, longest, LONGEST,
			    "%u flows that differ in bytes %u to %u: %u are in one chain", FLOWS,
			    from, from + 3, longest);
}

static void inet6_every_bit_of_the_tuple_moves_the_hash(struct kunit *test)
{
	every_bit(test, hash_v6, TUPLE_V6);
}

static void inet_every_bit_of_the_tuple_moves_the_hash(struct kunit *test)
{
	every_bit(test, hash_v4, TUPLE_V4);
}

static void inet6_flows_that_differ_in_one_word_are_spread(struct kunit *test)
{
	unsigned int word;

	for (word = 0; word < 8; word++)
		spread(test, hash_v6, TUPLE_V6, 4 * word);
}

static void inet_flows_that_differ_in_one_word_are_spread(struct kunit *test)
{
	spread(test, hash_v4, TUPLE_V4, 0);
	spread(test, hash_v4, TUPLE_V4, 4);
}

static struct kunit_case inet_ehash_cases[] = {
	KUNIT_CASE(inet6_every_bit_of_the_tuple_moves_the_hash),
	KUNIT_CASE(inet_every_bit_of_the_tuple_moves_the_hash),
	KUNIT_CASE(inet6_flows_that_differ_in_one_word_are_spread),
	KUNIT_CASE(inet_flows_that_differ_in_one_word_are_spread),
	{}
};

static struct kunit_suite inet_ehash_suite = {
	.name = "inet_ehash",
	.test_cases = inet_ehash_cases,
};

kunit_test_suite(inet_ehash_suite);
