// A flow table with the functions of hashlane_audit.h: chained buckets, doubled as it fills.
//
//	go build -buildmode=c-shared -o libflow.so .                   SipHash-2-4, keyed
//	go build -buildmode=c-shared -tags weak -o libflow-weak.so .   FNV-1a, without a key
//
// The file declares the functions itself, as cgo writes prototypes without the const of the header.
package main

// #include <stdint.h>
// #include <stdlib.h>
import "C"

import (
	"bytes"
	"unsafe"
)

type flowTable struct {
	seed     [16]byte
	buckets  [][][]byte
	len      int
	compared uint64
}

// Tables by their handle, a byte of C: C must not keep a pointer into the heap of Go. All calls come from one
// thread, so that no lock is needed.
var tables = map[unsafe.Pointer]*flowTable{}

func (t *flowTable) bucket(key []byte) *[][]byte {
	return &t.buckets[hash(key, &t.seed)&uint64(len(t.buckets)-1)]
}

func (t *flowTable) find(key []byte) bool {
	for _, other := range *t.bucket(key) {
		t.compared++
		if bytes.Equal(other, key) {
			return true
		}
	}
	return false
}

func (t *flowTable) insert(key []byte) {
	if t.find(key) {
		return
	}
	if t.len >= len(t.buckets) {
		old := t.buckets
		t.buckets = make([][][]byte, 2*len(old))
		for _, keys := range old {
			for _, key := range keys {
				bucket := t.bucket(key)
				*bucket = append(*bucket, key)
			}
		}
	}
	bucket := t.bucket(key)
	*bucket = append(*bucket, append([]byte(nil), key...))
	t.len++
}

func goBytes(key *C.uint8_t, len C.size_t) []byte {
	return unsafe.Slice((*byte)(key), int(len))
}

// The hash, for `hashlane audit --library`.
//
//export hash_flow
func hash_flow(key *C.uint8_t, len C.size_t, seed *C.uint8_t) C.uint64_t {
	return C.uint64_t(hash(goBytes(key, len), (*[16]byte)(unsafe.Pointer(seed))))
}

//export hashlane_audit_abi
func hashlane_audit_abi() C.uint32_t { return 1 }

//export hashlane_audit_init
func hashlane_audit_init(seed *C.uint8_t, capacity C.size_t) unsafe.Pointer {
	handle := C.malloc(1)
	buckets := 16
	for buckets < int(capacity) && buckets < 1<<24 {
		buckets *= 2
	}
	tables[handle] = &flowTable{seed: *(*[16]byte)(unsafe.Pointer(seed)), buckets: make([][][]byte, buckets)}
	return handle
}

//export hashlane_audit_insert
func hashlane_audit_insert(table unsafe.Pointer, key *C.uint8_t, len C.size_t) C.int {
	tables[table].insert(goBytes(key, len))
	return 0
}

//export hashlane_audit_find
func hashlane_audit_find(table unsafe.Pointer, key *C.uint8_t, len C.size_t) C.int {
	if tables[table].find(goBytes(key, len)) {
		return 1
	}
	return 0
}

//export hashlane_audit_len
func hashlane_audit_len(table unsafe.Pointer) C.size_t { return C.size_t(tables[table].len) }

//export hashlane_audit_compared
func hashlane_audit_compared(table unsafe.Pointer) C.uint64_t {
	return C.uint64_t(tables[table].compared)
}

//export hashlane_audit_free
func hashlane_audit_free(table unsafe.Pointer) {
	delete(tables, table)
	C.free(table)
}

func main() {}
