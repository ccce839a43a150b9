package scan

import (
	"bytes"
	"strings"
	"testing"
)

// program returns the head of a Windows program.
func program() string {
	head := make([]byte, 132)
	copy(head, "MZ\x90\x00")
	head[60] = 128
	copy(head[128:], "PE\x00\x00")
	return string(head)
}

func TestSniff(t *testing.T) {
	tarHead := strings.Repeat("\x00", 257) + "ustar\x0000" + strings.Repeat("\x00", 247)
	for _, c := range []struct {
		head string
		want Format
	}{
		{"", Text},
		{"# A page\n", Text},
		{"#!/bin/sh\necho\n", Text},
		{"caf\xe9 in Latin-1", Text},
		{"日本語", Text},
		{"\x1b[31mred\x1b[0m", Text},
		{"MZ is a country code", Text},
		{"BM25 ranks documents", Text},
		{"ID3 is a tag of music files", Text},
		{"The ftyp of a film", Text},
		{"wOFF is a font", Text},
		{"PK\nand more", Text},
		{"\xff\xfeh\x00i\x00", UTF16},
		{"h\x00e\x00l\x00l\x00o\x00 \x00a\x00l\x00l\x00", UTF16},
		{"\x7fELF\x02\x01\x01\x00", NativeELF},
		{program(), NativePE},
		{"\xcf\xfa\xed\xfe\x07\x00\x00\x01", NativeMachO},
		{"\xca\xfe\xba\xbe\x00\x00\x00\x02", NativeMachO},
		{"\xca\xfe\xba\xbe\x00\x00\x00\x41", JavaClass},
		{"\x00asm\x01\x00\x00\x00", Wasm},
		{"\xcb\x0d\r\n\x00\x00\x00\x00\x11\x22\x33\x44\x55\x66\x77\x88", Pyc},
		{"\x03\xf3\r\n\x00\x11\x22\x33\x44\x55\x66\x77\x00\x00\x00\x00", Pyc},
		{"PK\x03\x04\x14\x00", Zip},
		{"\x1f\x8b\x08\x00", Gzip},
		{tarHead, Tar},
		{"BZh91AY&SYxxxx", Bzip2},
		{"7z\xbc\xaf\x27\x1c\x00\x04", SevenZip},
		{"Rar!\x1a\x07\x01\x00", Rar},
		{"\xfd7zXZ\x00", Xz},
		{"\x28\xb5\x2f\xfd\x04\x00", Zstd},
		{"!<arch>\ndebian-binary   \x00\x00", OtherArchive},
		{"\x89PNG\r\n\x1a\n", Image},
		{"RIFF\x00\x00\x00\x00WEBPVP8 ", Image},
		{"%PDF-1.7\n", PDF},
		{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", Compound},
		{"SQLite format 3\x00", Database},
		{"\x00\x01\x02\x03\x04\x05\x06\x07\x08", OtherBinary},
	} {
		if got := Sniff([]byte(c.head)); got != c.want {
			t.Errorf("Sniff(%.20q) = %s, want %s", c.head, got, c.want)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		f                         Format
		native, compiled, archive bool
	}{
		{Text, false, false, false},
		{NativePE, true, false, false},
		{Pyc, false, true, false},
		{Wasm, false, true, false},
		{Zip, false, false, true},
		{Bzip2, false, false, true},
		{Rar, false, false, true},
		{OtherArchive, false, false, true},
		{Image, false, false, false},
	} {
		if c.f.Native() != c.native || c.f.Compiled() != c.compiled || c.f.Archive() != c.archive {
			t.Errorf("%s: %v %v %v", c.f, c.f.Native(), c.f.Compiled(), c.f.Archive())
		}
	}
}

func TestFromUTF16(t *testing.T) {
	const text = "a — 😀\n"
	for _, mark := range []string{"\xff\xfe", ""} {
		if got := FromUTF16([]byte(mark + utf16le(text))); string(got) != text {
			t.Errorf("after %q: %q", mark, got)
		}
	}
	if got := FromUTF16([]byte("\xfe\xff\x00a\x20\x14")); string(got) != "a—" {
		t.Errorf("big endian: %q", got)
	}
	if got := FromUTF16([]byte("\xff\xfe\x00\xd8")); !bytes.Equal(got, []byte("\uFFFD")) {
		t.Errorf("half a pair: %q", got)
	}
}
