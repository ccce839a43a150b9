package catalog

import (
	"encoding/binary"
	"hash/crc32"
)

// Seal corrects the checksum of an index.
func Seal(data []byte) {
	binary.LittleEndian.PutUint32(data[len(magic):], crc32.Checksum(data[headerSize:], castagnoli()))
}

// Decodes reports whether a file of an index is readable, and returns its re-encoded form.
func Decodes(data []byte) ([]byte, bool) {
	t := decode(data)
	if t == nil {
		return nil, false
	}
	return encode(t), true
}
