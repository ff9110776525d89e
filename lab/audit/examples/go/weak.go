//go:build weak

package main

// FNV-1a, which has no key: everyone can compute collisions.
func hash(key []byte, _ *[16]byte) uint64 {
	hash := uint64(0xcbf29ce484222325)
	for _, b := range key {
		hash = (hash ^ uint64(b)) * 0x100000001b3
	}
	return hash
}
