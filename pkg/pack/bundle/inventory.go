package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

const (
	treeHeader   = "skillpm-tree-v1\n"
	packHeader   = "skillpm-pack-v1\n"
	digestPrefix = "t1:sha256:"
)

// Entry is one file of a skill.
type Entry struct {
	Path       string // relative to the skill, slash-separated, NFC
	Executable bool
	Size       int64
	SHA256     [sha256.Size]byte
}

// Inventory lists the files of a skill, sorted bytewise by path.
type Inventory []Entry

// Encode returns the inventory as the text that is hashed and stored:
//
//	skillpm-tree-v1
//	644 1204 9f86d081…0a08 "SKILL.md"
//	755 88 60303ae2…5752 "scripts/run.sh"
//
// Each line is a file: mode (644, or 755 if it is executable), size in bytes, SHA-256 in hex, and the path in double
// quotes. No path that [CheckPath] allows needs escapes.
func (inv Inventory) Encode() []byte {
	size := len(treeHeader)
	for i := range inv {
		size += 96 + len(inv[i].Path)
	}
	b := append(make([]byte, 0, size), treeHeader...)
	for i := range inv {
		b = inv[i].appendLine(b)
	}
	return b
}

func (e *Entry) appendLine(b []byte) []byte {
	if e.Executable {
		b = append(b, "755 "...)
	} else {
		b = append(b, "644 "...)
	}
	b = strconv.AppendInt(b, e.Size, 10)
	b = append(b, ' ')
	b = hex.AppendEncode(b, e.SHA256[:])
	b = append(b, ` "`...)
	b = append(b, e.Path...)
	return append(b, "\"\n"...)
}

// Digest returns the tree digest: "t1:sha256:" and the SHA-256 of the encoded inventory in hex.
func (inv Inventory) Digest() string { return DigestOf(inv.Encode()) }

// DigestOf returns the digest of an encoded inventory.
func DigestOf(data []byte) string {
	return digestPrefix + textx.SHA256(data)
}

// Find returns the entry of a path.
func (inv Inventory) Find(path string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(inv, path, func(e Entry, p string) int { return strings.Compare(e.Path, p) })
	if !ok {
		return Entry{}, false
	}
	return inv[i], true
}

// Size returns the total size of all files.
func (inv Inventory) Size() int64 {
	var n int64
	for i := range inv {
		n += inv[i].Size
	}
	return n
}

// Sort sorts the inventory bytewise by path, which its other methods require.
func (inv Inventory) Sort() {
	slices.SortFunc(inv, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}

// ParseInventory parses the exact text that [Inventory.Encode] writes, with the same order, numbers and names, so that
// each inventory has one text. Errors have the code Invalid and name the line.
func ParseInventory(data []byte) (Inventory, error) {
	rest, ok := bytes.CutPrefix(data, []byte(treeHeader))
	if !ok {
		return nil, diag.Errorf(diag.Invalid, "invalid list of files: the first line is not %s",
			strings.TrimSpace(treeHeader))
	}
	inv := make(Inventory, 0, bytes.Count(rest, []byte{'\n'}))
	var check Checker
	for n := 2; len(rest) > 0; n++ {
		line, after, ok := bytes.Cut(rest, []byte{'\n'})
		if !ok {
			return nil, diag.Errorf(diag.Invalid, "line %d of the list of files is truncated", n)
		}
		rest = after
		e, err := parseLine(string(line))
		if err == nil {
			err = check.AddFile(e.Path, e.Size)
		}
		if err != nil {
			return nil, diag.Errorf(diag.Invalid, "line %d of the list of files: %w", n, err)
		}
		if len(inv) > 0 && inv[len(inv)-1].Path >= e.Path {
			return nil, diag.Errorf(diag.Invalid, "line %d of the list of files is not sorted by path", n)
		}
		inv = append(inv, e)
	}
	return inv, nil
}

func parseLine(line string) (e Entry, err error) {
	invalid := diag.Errorf(diag.Invalid, "expected <mode> <size> <sha256> <quoted path>")
	mode, line, ok1 := strings.Cut(line, " ")
	size, line, ok2 := strings.Cut(line, " ")
	sum, path, ok3 := strings.Cut(line, " ")
	if !ok1 || !ok2 || !ok3 || mode != "644" && mode != "755" || len(path) < 2 || path[0] != '"' ||
		path[len(path)-1] != '"' {
		return e, invalid
	}
	e.Executable = mode == "755"
	e.Path = path[1 : len(path)-1]
	if e.Size, err = strconv.ParseInt(size, 10, 64); err != nil || e.Size < 0 || strconv.FormatInt(e.Size, 10) != size {
		return e, invalid
	}
	if !parseHex(e.SHA256[:], sum) || Normal(e.Path) != e.Path {
		return e, invalid
	}
	return e, nil
}

// parseHex decodes lowercase hex of exactly dst's length.
func parseHex(dst []byte, s string) bool {
	if len(s) != 2*len(dst) || strings.ToLower(s) != s {
		return false
	}
	_, err := hex.Decode(dst, []byte(s))
	return err == nil
}

// Integrity returns the digest of a whole pack from its skills' tree digests: "t1:sha256:" and the SHA-256 of the
// line skillpm-pack-v1 and then, sorted by skill, lines of a tree digest, a space and the skill's quoted name.
func Integrity(trees map[string]string) string {
	size := len(packHeader)
	for skill, tree := range trees {
		size += len(skill) + len(tree) + len(` ""`+"\n")
	}
	b := append(make([]byte, 0, size), packHeader...)
	for _, skill := range slices.Sorted(maps.Keys(trees)) {
		b = append(b, trees[skill]...)
		b = append(b, ` "`...)
		b = append(b, skill...)
		b = append(b, "\"\n"...)
	}
	return DigestOf(b)
}

// CheckDigest returns an error unless s is a tree digest or an integrity: "t1:sha256:" and 64 lowercase hex digits.
func CheckDigest(s string) error {
	var sum [sha256.Size]byte
	digits, ok := strings.CutPrefix(s, digestPrefix)
	if !ok || !parseHex(sum[:], digits) {
		return diag.Errorf(diag.Invalid, "invalid digest %s: use %s and 64 hexadecimal digits", quoteName(s),
			digestPrefix)
	}
	return nil
}

// WithModes returns inv with the executable bits of the same paths in from. Windows has no such bit, so that installed
// files are compared by content only.
func (inv Inventory) WithModes(from Inventory) Inventory {
	inv = slices.Clone(inv)
	for i := range inv {
		if e, ok := from.Find(inv[i].Path); ok {
			inv[i].Executable = e.Executable
		}
	}
	return inv
}

// Check returns the first difference between inv, which is expected, and got as a [MismatchError].
func (inv Inventory) Check(got Inventory) error {
	for i, j := 0, 0; i < len(inv) || j < len(got); i, j = i+1, j+1 {
		switch {
		case j == len(got) || i < len(inv) && inv[i].Path < got[j].Path:
			return &MismatchError{What: "file " + quoteName(inv[i].Path), Want: inv[i].describe(), Got: "no file"}
		case i == len(inv) || inv[i].Path > got[j].Path:
			return &MismatchError{What: "file " + quoteName(got[j].Path), Want: "no file", Got: got[j].describe()}
		case inv[i] != got[j]:
			return &MismatchError{
				What: "file " + quoteName(got[j].Path), Want: inv[i].describe(), Got: got[j].describe(),
			}
		}
	}
	return nil
}

// describe returns the line of the entry up to the path.
func (e *Entry) describe() string {
	line := string(e.appendLine(nil))
	return strings.TrimSpace(line[:len(line)-len(e.Path)-3])
}

// Check returns a [MismatchError] unless data is the content of the entry.
func (e Entry) Check(data []byte) error { return e.CheckSum(int64(len(data)), sha256.Sum256(data)) }

// CheckSum returns a [MismatchError] unless the content of the entry has that size and digest.
func (e Entry) CheckSum(size int64, sum [sha256.Size]byte) error {
	switch {
	case size != e.Size:
		want, got := fmt.Sprintf("%d bytes", e.Size), fmt.Sprintf("%d bytes", size)
		return &MismatchError{What: "size of " + quoteName(e.Path), Want: want, Got: got}
	case sum != e.SHA256:
		want, got := hex.EncodeToString(e.SHA256[:]), hex.EncodeToString(sum[:])
		return &MismatchError{What: "file " + quoteName(e.Path), Want: want, Got: got}
	}
	return nil
}
