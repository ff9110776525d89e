// What the adapters share: the key, its hashes, and the C functions of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif

namespace hashlane {

struct Key {
    uint64_t words[5];
    bool operator==(const Key &other) const { return std::memcmp(words, other.words, sizeof words) == 0; }
};

// SipHash-1-3 of 40 bytes (Aumasson and Bernstein 2012, with 1 and 3 rounds).
struct SipHash13 {
    uint64_t k0, k1;

    static uint64_t rotl(uint64_t x, int n) { return x << n | x >> (64 - n); }

    uint64_t operator()(const Key &key) const {
        uint64_t v0 = k0 ^ 0x736f6d6570736575, v1 = k1 ^ 0x646f72616e646f6d;
        uint64_t v2 = k0 ^ 0x6c7967656e657261, v3 = k1 ^ 0x7465646279746573;
        auto round = [&] {
            v0 += v1, v1 = rotl(v1, 13) ^ v0, v0 = rotl(v0, 32);
            v2 += v3, v3 = rotl(v3, 16) ^ v2;
            v0 += v3, v3 = rotl(v3, 21) ^ v0;
            v2 += v1, v1 = rotl(v1, 17) ^ v2, v2 = rotl(v2, 32);
        };
        for (uint64_t word : key.words) {
            v3 ^= word, round(), v0 ^= word;
        }
        const uint64_t last = uint64_t{sizeof key} << 56;
        v3 ^= last, round(), v0 ^= last;
        v2 ^= 0xff, round(), round(), round();
        return v0 ^ v1 ^ v2 ^ v3;
    }
};

// CRC-32C of 40 bytes from 0, without a key; copied to the upper half.
struct Crc32c {
    uint64_t operator()(const Key &key) const {
        uint64_t crc = 0;
#if defined(__SSE4_2__)
        for (uint64_t word : key.words) crc = _mm_crc32_u64(crc, word);
#else
        for (uint64_t word : key.words) {
            crc ^= word;
            for (int bit = 0; bit < 64; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
        }
#endif
        return crc << 32 | crc;
    }
};

// A table with the functions of a map, as boost's and Abseil's have.
template <class Map> struct MapTable {
    Map map;

    void insert(const Key *keys, size_t count, uint32_t first) {
        for (size_t at = 0; at < count; ++at) map.insert_or_assign(keys[at], first + uint32_t(at));
    }
    uint64_t find(const Key *keys, size_t count, uint64_t *sum) const {
        uint64_t found = 0;
        for (size_t at = 0; at < count; ++at) {
            auto entry = map.find(keys[at]);
            if (entry != map.end()) ++found, *sum += entry->second;
        }
        return found;
    }
    uint64_t remove(const Key *keys, size_t count) {
        uint64_t removed = 0;
        for (size_t at = 0; at < count; ++at) removed += map.erase(keys[at]);
        return removed;
    }
    size_t len() const { return map.size(); }
};

// The functions of one kind of table, as the Rust side declares them.
struct Functions {
    void *(*make)(size_t room, uint64_t k0, uint64_t k1);
    void (*free)(void *table);
    void (*insert)(void *table, const Key *keys, size_t count, uint32_t first);
    uint64_t (*find)(void *table, const Key *keys, size_t count, uint64_t *sum);
    uint64_t (*remove)(void *table, const Key *keys, size_t count);
    size_t (*len)(void *table);
};

// Exports a kind of table. Memory that runs out later ends the process: no exception passes to the caller.
#define HASHLANE_TABLE(NAME, TABLE, MAKE) \
    extern "C" { \
    extern const hashlane::Functions hashlane_##NAME; \
    const hashlane::Functions hashlane_##NAME = { \
        [](size_t room, uint64_t k0, uint64_t k1) noexcept -> void * { \
            (void)k0, (void)k1; \
            try { \
                return MAKE; \
            } catch (...) { \
                return nullptr; \
            } \
        }, \
        [](void *table) noexcept { delete static_cast<TABLE *>(table); }, \
        [](void *table, const hashlane::Key *keys, size_t count, uint32_t first) noexcept { \
            static_cast<TABLE *>(table)->insert(keys, count, first); \
        }, \
        [](void *table, const hashlane::Key *keys, size_t count, uint64_t *sum) noexcept -> uint64_t { \
            return static_cast<const TABLE *>(table)->find(keys, count, sum); \
        }, \
        [](void *table, const hashlane::Key *keys, size_t count) noexcept -> uint64_t { \
            return static_cast<TABLE *>(table)->remove(keys, count); \
        }, \
        [](void *table) noexcept -> size_t { return static_cast<const TABLE *>(table)->len(); }, \
    }; \
    }

} // namespace hashlane
