package catalog

import (
	"encoding/binary"
	"hash/crc32"
)

// Seal makes the checksum of an index right.
func Seal(data []byte) {
	binary.LittleEndian.PutUint32(data[len(magic):], crc32.Checksum(data[headerSize:], castagnoli()))
}

// Decodes reports whether a file of an index can be read, and what is written of it again.
func Decodes(data []byte) ([]byte, bool) {
	t := decode(data)
	if t == nil {
		return nil, false
	}
	return encode(t), true
}
