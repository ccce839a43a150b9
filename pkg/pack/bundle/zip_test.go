package bundle_test

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

type zipFile struct {
	name, data string
	mode       fs.FileMode
}

func zipOf(t *testing.T, files ...zipFile) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(f.mode)
		entry, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write([]byte(f.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestUnpackZip checks that a zip archive has the digest of the same files in a directory, and that what is refused in
// a tar is refused in a zip.
func TestUnpackZip(t *testing.T) {
	skill := zipFile{"SKILL.md", "---\nname: a\ndescription: A.\n---\n", 0o644}
	unpack := func(data []byte, limits bundle.Limits) (*bundle.Hasher, error) {
		h := bundle.NewHasher(limits)
		return h, bundle.UnpackZip(bytes.NewReader(data), int64(len(data)),
			bundle.UnpackOptions{Layout: bundle.Single, Skill: "a", Limits: limits}, h)
	}
	h, err := unpack(zipOf(t, skill, zipFile{"scripts/", "", fs.ModeDir | 0o755},
		zipFile{"scripts/run.sh", "#!/bin/sh\n", 0o755}, zipFile{".DS_Store", "x", 0o644}), bundle.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	inventory := h.Inventories()["a"]
	if len(inventory) != 2 || inventory[0].Path != "SKILL.md" || !inventory[1].Executable {
		t.Errorf("inventory: %+v", inventory)
	}
	damaged := zipOf(t, skill)
	damaged[40] ^= 0xff
	for name, tt := range map[string]struct {
		data    []byte
		message string
	}{
		"outside":   {zipOf(t, skill, zipFile{"../x", "", 0o644}), "../x"},
		"absolute":  {zipOf(t, skill, zipFile{"/etc/x", "", 0o644}), "/etc/x"},
		"link":      {zipOf(t, skill, zipFile{"x", "/etc/passwd", fs.ModeSymlink | 0o777}), "is a symbolic link"},
		"twice":     {zipOf(t, skill, skill), "is duplicated"},
		"case":      {zipOf(t, skill, zipFile{"A", "", 0o644}, zipFile{"a", "", 0o644}), "collides with"},
		"no skill":  {zipOf(t, zipFile{"README.md", "", 0o644}), "does not contain a SKILL.md"},
		"too large": {zipOf(t, skill, zipFile{"x", strings.Repeat("x", 2000), 0o644}), "has 2000 bytes"},
		"damaged":   {damaged, "damaged"},
		"not a zip": {[]byte("PK"), "not a valid zip archive"},
	} {
		_, err := unpack(tt.data, bundle.Limits{FileBytes: 1000})
		if diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%s: %v (%v), want %q", name, err, diag.CodeOf(err), tt.message)
		}
	}
}
