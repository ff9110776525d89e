//go:build !weak

package main

import (
	"encoding/binary"
	"math/bits"
)

// SipHash-2-4 under a secret key.
func hash(key []byte, seed *[16]byte) uint64 {
	k0, k1 := binary.LittleEndian.Uint64(seed[:8]), binary.LittleEndian.Uint64(seed[8:])
	v := [4]uint64{
		k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
		k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573,
	}
	last := uint64(len(key)) << 56
	for ; len(key) >= 8; key = key[8:] {
		absorb(&v, binary.LittleEndian.Uint64(key))
	}
	for i, b := range key {
		last |= uint64(b) << (8 * i)
	}
	absorb(&v, last)
	v[2] ^= 0xff
	rounds(&v, 4)
	return v[0] ^ v[1] ^ v[2] ^ v[3]
}

func absorb(v *[4]uint64, word uint64) {
	v[3] ^= word
	rounds(v, 2)
	v[0] ^= word
}

func rounds(v *[4]uint64, count int) {
	for i := 0; i < count; i++ {
		v[0] += v[1]
		v[1] = bits.RotateLeft64(v[1], 13) ^ v[0]
		v[0] = bits.RotateLeft64(v[0], 32)
		v[2] += v[3]
		v[3] = bits.RotateLeft64(v[3], 16) ^ v[2]
		v[0] += v[3]
		v[3] = bits.RotateLeft64(v[3], 21) ^ v[0]
		v[2] += v[1]
		v[1] = bits.RotateLeft64(v[1], 17) ^ v[2]
		v[2] = bits.RotateLeft64(v[2], 32)
	}
}
