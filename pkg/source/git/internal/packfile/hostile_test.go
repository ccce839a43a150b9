package packfile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// packHead returns the start of a pack of n objects.
func packHead(n uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), n)
}

// number encodes a size in the header of a delta.
func number(n int) []byte {
	var b []byte
	for ; n > 0x7f; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// TestDeltaBombs checks M2, bad input: a chain of deltas as long as the pack is resolved without recursion. Deltas with
// a huge result are rejected by its size.
func TestDeltaBombs(t *testing.T) {
	const deep = 20_000
	chain := appendPacked(packHead(deep+1), 3, nil, []byte("a base of some bytes"))
	start, deflate := 12, zlib.NewWriter(nil)
	for range deep {
		next := len(chain)
		chain = appendDeflated(chain, 6, []byte{byte(next - start)}, []byte{20, 20, 0x90, 20}, deflate)
		start = next
	}
	p, err := receivePack(t, signed(append(chain, make([]byte, 20)...)), DefaultLimits())
	if err != nil || len(p.entries) != deep+1 {
		t.Errorf("a deep chain: %v", err)
	}
	p.cache = nil
	if data, err := p.content(deep); err != nil || string(data) != "a base of some bytes" {
		t.Errorf("the end of a deep chain is %q, %v", data, err)
	}

	base := bytes.Repeat([]byte("x"), 2000)
	bomb := func(size, copies, deltas int) []byte {
		b := appendPacked(packHead(uint32(deltas)+1), 3, nil, base) //nolint:gosec // small
		for range deltas {
			delta := append(number(len(base)), number(size)...)
			for range copies {
				delta = append(delta, 0xb0, 0xd0, 0x07) // copy the whole base
			}
			back := len(b) - 12
			if back > 127 {
				b = appendPacked(b, 6, []byte{byte((back>>7)-1) | 0x80, byte(back & 0x7f)}, delta)
			} else {
				b = appendPacked(b, 6, []byte{byte(back)}, delta)
			}
		}
		return signed(append(b, make([]byte, 20)...))
	}
	l := DefaultLimits()
	l.Object, l.Total, l.Files = 100_000, 500_000, 1<<20
	for name, tt := range map[string]struct {
		pack []byte
		want string
	}{
		"an object too large":   {bomb(200_000, 100, 1), "an object has 200000 bytes"},
		"too much in all":       {bomb(80_000, 40, 10), "more than 500000 bytes"},
		"more than it says":     {bomb(4000, 3, 1), "malformed"},
		"less than it says":     {bomb(8000, 3, 1), "unexpected EOF"},
		"a size without an end": {bomb(-1, 1, 1), ""},
	} {
		if _, err := receivePack(t, tt.pack, l); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := receivePack(t, bomb(4000, 2, 3), l); err != nil {
		t.Errorf("what is no bomb: %v", err)
	}
}

// fullFile is a file on a disk that is full after some bytes.
type fullFile struct {
	memFile
	room int
}

func (f *fullFile) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	return f.memFile.Write(p)
}

// TestFullDisk checks M2, faults of this machine: a full disk at any byte is reported as such.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	data, _, _ := makePack(t, 2000, "--delta-base-offset")
	for room := 0; room < len(data); room += 1 + len(data)/7 {
		_, err := indexPack(bytes.NewReader(data), &fullFile{room: room}, t.TempDir(), "x", DefaultLimits())
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}
