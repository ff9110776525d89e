//go:build !weak

package main

import "hash/maphash"

// A hash under a key of its own: Go draws it at random, and takes none from outside.
func newHash() func([]byte) uint64 {
	seed := maphash.MakeSeed()
	return func(key []byte) uint64 { return maphash.Bytes(seed, key) }
}
