package scan

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// Format is what a file is, by its first bytes.
type Format int

// The formats. What is none of them is Text or OtherBinary.
const (
	OtherBinary Format = iota
	Text               // UTF-8, or another encoding that keeps ASCII
	UTF16              // text in UTF-16: FromUTF16 makes it readable

	NativeELF // programs and libraries of Linux and other Unixes
	NativePE  // of Windows
	NativeMachO

	Pyc // Python's byte code
	JavaClass
	Wasm
	Bytecode // of Android, Lua or LLVM

	Zip // also office documents, jar and whl
	Gzip
	Tar
	Bzip2
	SevenZip
	Rar
	Xz
	Zstd
	OtherArchive // cab, deb, rpm, cpio, lzip, lz4, ar

	Compound // Microsoft's compound file: old office documents, installers
	Image
	Font
	Media // sound and film
	PDF
	Database
)

var formatNames = [...]string{
	OtherBinary: "binary file", Text: "text", UTF16: "UTF-16 text",
	NativeELF: "ELF program", NativePE: "Windows program", NativeMachO: "macOS program",
	Pyc: "Python bytecode", JavaClass: "Java class", Wasm: "WebAssembly", Bytecode: "bytecode",
	Zip: "zip archive", Gzip: "gzip file", Tar: "tar archive", Bzip2: "bzip2 file", SevenZip: "7z archive",
	Rar: "rar archive",
	Xz:  "xz file", Zstd: "zstd file", OtherArchive: "archive",
	Compound: "compound file", Image: "image", Font: "font", Media: "media file", PDF: "PDF document",
	Database: "database",
}

// String returns the format's name for a message, as "ELF program".
func (f Format) String() string { return formatNames[f] }

// Native reports whether the file is a program or library for a processor.
func (f Format) Native() bool { return f >= NativeELF && f <= NativeMachO }

// Compiled reports whether the file is code for a virtual machine, which reviewers cannot read.
func (f Format) Compiled() bool { return f >= Pyc && f <= Bytecode }

// Archive reports whether the file holds other files, or one that is compressed.
func (f Format) Archive() bool { return f >= Zip && f <= OtherArchive }

// magic are the first bytes of formats.
var magic = [...]struct {
	at     int
	bytes  string
	format Format
}{
	{0, "\x7fELF", NativeELF},
	{0, "\xfe\xed\xfa\xce", NativeMachO},
	{0, "\xfe\xed\xfa\xcf", NativeMachO},
	{0, "\xce\xfa\xed\xfe", NativeMachO},
	{0, "\xcf\xfa\xed\xfe", NativeMachO},
	{0, "\xca\xfe\xba\xbf", NativeMachO},
	{0, "\x00asm", Wasm},
	{0, "dex\n03", Bytecode},
	{0, "\x1bLua", Bytecode},
	{0, "BC\xc0\xde", Bytecode},
	{0, "PK\x03\x04", Zip},
	{0, "PK\x05\x06", Zip},
	{0, "PK\x07\x08", Zip},
	{0, "\x1f\x8b", Gzip},
	{257, "ustar", Tar},
	{0, "7z\xbc\xaf\x27\x1c", SevenZip},
	{0, "Rar!\x1a\x07", Rar},
	{0, "\xfd7zXZ\x00", Xz},
	{0, "\x28\xb5\x2f\xfd", Zstd},
	{0, "MSCF\x00\x00\x00\x00", OtherArchive},
	{0, "!<arch>\n", OtherArchive},
	{0, "\xed\xab\xee\xdb", OtherArchive},
	{0, "LZIP\x01", OtherArchive},
	{0, "\x04\x22\x4d\x18", OtherArchive},
	{0, "070701", OtherArchive},
	{0, "\x5d\x00\x00\x80\x00", OtherArchive},
	{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Compound},
	{0, "\x89PNG\r\n\x1a\n", Image},
	{0, "\xff\xd8\xff", Image},
	{0, "GIF87a", Image},
	{0, "GIF89a", Image},
	{8, "WEBP", Image},
	{4, "ftypavif", Image},
	{4, "ftypheic", Image},
	{0, "II*\x00", Image},
	{0, "MM\x00*", Image},
	{0, "\x00\x00\x01\x00", Image},
	{0, "OTTO\x00", Font},
	{0, "\x00\x01\x00\x00\x00", Font},
	{0, "wOFF", Font},
	{0, "wOF2", Font},
	{0, "ttcf\x00", Font},
	{4, "ftyp", Media},
	{8, "WAVE", Media},
	{8, "AVI ", Media},
	{0, "ID3", Media},
	{0, "\xff\xfb", Media},
	{0, "OggS\x00", Media},
	{0, "fLaC\x00", Media},
	{0, "\x1a\x45\xdf\xa3", Media},
	{0, "%PDF-", PDF},
	{0, "SQLite format 3\x00", Database},
}

// sniffLimit is how many bytes are read to distinguish text from other formats.
const sniffLimit = 8192

// Sniff detects the format of a file from its first bytes; 8 KiB are enough.
func Sniff(head []byte) Format {
	if len(head) > sniffLimit {
		head = head[:sniffLimit]
	}
	if f, ok := byMagic(head); ok {
		return f
	}
	switch {
	case isText(head):
		return Text
	case isUTF16(head):
		return UTF16
	}
	return OtherBinary
}

func byMagic(head []byte) (Format, bool) {
	for _, m := range magic {
		if end := m.at + len(m.bytes); len(head) >= end && string(head[m.at:end]) == m.bytes {
			if m.format == PDF || !printable([]byte(m.bytes)) || !isText(head) {
				return m.format, true
			}
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xca\xfe\xba\xbe")) && len(head) >= 8:
		if binary.BigEndian.Uint32(head[4:]) < 20 { // the number of architectures; in a class, the version
			return NativeMachO, true
		}
		return JavaClass, true
	case bytes.HasPrefix(head, []byte("MZ")) && isPE(head):
		return NativePE, true
	case len(head) >= 16 && head[2] == '\r' && head[3] == '\n' && bytes.IndexByte(head[4:16], 0) >= 0 &&
		(head[1] >= 0x0B && head[1] <= 0x0F || head[1] >= 0xF0):
		return Pyc, true
	case len(head) >= 10 && string(head[:3]) == "BZh" && string(head[4:10]) == "1AY&SY":
		return Bzip2, true
	case len(head) >= 14 && string(head[:2]) == "BM" && bytes.Equal(head[6:10], []byte{0, 0, 0, 0}):
		return Image, true
	}
	return OtherBinary, false
}

// isPE reports whether what starts with MZ is a program: the header says where that of Windows is.
func isPE(head []byte) bool {
	if len(head) < 64 {
		return bytes.IndexByte(head, 0) >= 0
	}
	at := int(binary.LittleEndian.Uint32(head[60:]))
	if at >= 64 && at+4 <= len(head) {
		return string(head[at:at+2]) == "PE" || string(head[at:at+2]) == "NE" || string(head[at:at+2]) == "LE"
	}
	return bytes.IndexByte(head[:64], 0) >= 0
}

// isText reports whether the bytes are text: no zeros, and hardly any control characters.
func isText(head []byte) bool {
	controls := 0
	for _, c := range head {
		switch {
		case c == 0:
			return false
		case c < ' ' && !is(c, isBlank) && c != 0x1B && c != '\b' || c == 0x7F:
			controls++
		}
	}
	return controls*100 <= len(head)
}

// isUTF16 reports whether the bytes are UTF-16: they have a byte order mark, or every other byte is zero.
func isUTF16(head []byte) bool {
	if len(head) >= 2 && (string(head[:2]) == "\xff\xfe" || string(head[:2]) == "\xfe\xff") {
		return true
	}
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i&1]++
		}
	}
	half := len(head) / 2
	return half >= 8 && (zeros[0] == 0 && zeros[1]*10 >= half*9 || zeros[1] == 0 && zeros[0]*10 >= half*9)
}

// FromUTF16 converts text from UTF-16 to UTF-8. Without a byte order mark it guesses the byte order from the zeros.
func FromUTF16(data []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		data = data[2:]
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		data, order = data[2:], binary.BigEndian
	case len(data) >= 2 && data[0] == 0:
		order = binary.BigEndian
	}
	out := make([]byte, 0, len(data))
	for i := 0; i+2 <= len(data); i += 2 {
		r := rune(order.Uint16(data[i:]))
		if utf16.IsSurrogate(r) && i+4 <= len(data) {
			if pair := utf16.DecodeRune(r, rune(order.Uint16(data[i+2:]))); pair != utf8.RuneError {
				r = pair
				i += 2
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}
