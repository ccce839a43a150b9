package scan

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"strings"
	"testing"
	"time"
)

// member is one entry of a test's archive.
type member struct {
	name, data string
	flags      uint16 // of a zip
	mode       fs.FileMode
	link       byte // the type of a tar's entry
}

func zipOf(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Flags: m.flags}
		if m.mode != 0 {
			h.SetMode(m.mode)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte(m.data))
	}
	w.Close()
	return b.Bytes()
}

func tarOf(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.data)), ModTime: time.Unix(0, 0), Typeflag: tar.TypeReg}
		if m.link != 0 {
			h.Typeflag, h.Size, h.Linkname = m.link, 0, "elsewhere"
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			w.Write([]byte(m.data))
		}
	}
	w.Close()
	return b.Bytes()
}

func gz(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// asText returns findings as one line each.
func asText(findings []Finding) string {
	var b strings.Builder
	for _, f := range findings {
		b.WriteString(f.Problem.String() + " " + f.Path)
		if f.Problem == HoldsText {
			b.WriteString(" " + f.Hit.Kind.String())
		}
		if f.Count > 1 {
			b.WriteString(" and more")
		}
		b.WriteString(": " + f.Detail + "\n")
	}
	return b.String()
}

func TestArchive(t *testing.T) {
	elf := "\x7fELF\x02\x01\x01\x00"
	bad := "echo " + b64("touch x; touch y; touch z") + " | base" + "64 -d | sh\n"
	good := member{name: "README.md", data: "# A page\n"}
	inner := zipOf(t, member{name: "bin/tool", data: elf})
	cut := tarOf(t, good)
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"a.zip", zipOf(t, good, member{name: "dir/"}), ""},
		{"a.tar", tarOf(t, good, member{name: "dir/", link: tar.TypeDir}), ""},
		{"a.tgz", gz(tarOf(t, good)), ""},
		{"page.md.gz", gz([]byte("# A page\n")), ""},
		{"page.md.bz2", []byte("\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x4b\x02\xd4\x52\x00\x00\x01\xd5\x80\x00\x10\x48\x00\x20\x00\x22\x80\x40\x00\x20\x00\x22\x07\xa2\x68\x43\x02\x18\x85\x24\x3c\x5d\xc9\x14\xe1\x42\x41\x2c\x0b\x51\x48"), ""},
		{"page.md.bz2", []byte("\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x4b\x02\xd4\x52\x00\x00\x01\xd5\x80\x00\x10\x48\x00\x20\x00\x22\x80\x40\x00\x20\x00\x22\x07\xa2\x68\x43\x02\x18\x85\x24\x3c\x5d\xc9\x14\xe1\x42\x41\x2c\x0b\x51\x48")[:30], "OpaqueArchive : it is damaged\n"},
		{"a.zip", zipOf(t, member{name: "x", data: elf}, member{name: "y", data: elf}), "HoldsNative x and more: ELF program\n"},
		{"a.tar", tarOf(t, member{name: "run.sh", data: bad}), "HoldsText run.sh Base64Shell: decoded into sh\n"},
		{"run.sh.gz", gz([]byte(bad)), "HoldsText run.sh Base64Shell: decoded into sh\n"},
		{"a.jar", zipOf(t, member{name: "A.class", data: "\xca\xfe\xba\xbe\x00\x00\x00\x41"}), "HoldsCompiled A.class: Java class\n"},
		{"a.zip", zipOf(t, member{name: "deep/inner.zip", data: string(inner)}), "HoldsNative deep/inner.zip/bin/tool: ELF program\n"},
		{
			"a.zip", zipOf(t, member{name: "b.zip", data: string(zipOf(t, member{name: "c.zip", data: string(inner)}))}),
			"OpaqueArchive b.zip/c.zip: it is nested in too many archives\n",
		},
		{"a.zip", zipOf(t, member{name: "x", data: "secret", flags: 1}), "HoldsEncrypted x: the entry has a password\n"},
		{"a.zip", zipOf(t, member{name: "../x", data: "1"}), "UnsafeEntry ../x: its name leads out of the archive\n"},
		{"a.zip", zipOf(t, member{name: "/x", data: "1"}), "UnsafeEntry /x: its name is absolute\n"},
		{"a.zip", zipOf(t, member{name: "a/\u202ex", data: "1"}), "UnsafeEntry a/\\u202ex: its name contains invisible characters\n"},
		{"a.zip", zipOf(t, good, good), "UnsafeEntry README.md: its name is duplicated in the archive\n"},
		{"a.zip", zipOf(t, member{name: "l", data: "x", mode: fs.ModeSymlink | 0o777}), "UnsafeEntry l: the entry is a link or a device\n"},
		{"a.tar", tarOf(t, member{name: "l", link: tar.TypeSymlink}), "UnsafeEntry l: the entry is a link or a device\n"},
		{"a.tar", append(tarOf(t, good), "more"...), "OpaqueArchive : unexpected data after its end\n"},
		{"a.tar", cut[:520], "OpaqueArchive README.md: it is damaged\n"},
		{"a.tgz", gz(cut)[:60], "OpaqueArchive : it is damaged\n"},
		{"a.zip", zipOf(t, good)[:40], "OpaqueArchive : it is damaged\n"},
		{"a.7z", []byte("7z\xbc\xaf\x27\x1c\x00\x04"), "OpaqueArchive : 7z archive\n"},
		{"a.zip", zipOf(t, member{name: "x.rar", data: "Rar!\x1a\x07\x01\x00"}), "OpaqueArchive x.rar: rar archive\n"},
		{"zeros.gz", gz(make([]byte, 8<<20)), "OpaqueArchive : it expands to far more than its compressed size\n"},
		{"a.zip", zipOf(t, member{name: "zeros", data: strings.Repeat("\x00", 8<<20)}), "OpaqueArchive zeros: it expands to far more than its compressed size\n"},
		{
			"a.docx", zipOf(t, member{name: "[Content_Types].xml", data: "<x/>"}, member{name: "word/vbaProject.bin", data: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"}),
			"HoldsMacros word/vbaProject.bin: macros\n",
		},
		{
			"a.zip", zipOf(t, member{name: "b.docx", data: string(zipOf(t, member{name: "[Content_Types].xml", data: "<x/>"},
				member{name: "word/embeddings/t.xlsx", data: string(zipOf(t, member{name: "[Content_Types].xml", data: "<x/>"}))}))}), "",
		},
	} {
		if got := asText(New().Archive(c.name, c.data)); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

func TestArchiveBounds(t *testing.T) {
	s := New()
	many := make([]member, maxEntries+1)
	for i := range many {
		many[i].name = random(hexDigits, 20, uint64(i))
	}
	if got := asText(s.Archive("a.tar", tarOf(t, many...))); !strings.Contains(got, "more than 10000 entries") {
		t.Errorf("many entries:\n%.300s", got)
	}
	noise := random(base62, 17<<20, 1)
	if got := asText(s.Archive("a.tar", tarOf(t, member{name: "x", data: noise}))); !strings.Contains(got, "too large") {
		t.Errorf("a large entry:\n%.300s", got)
	}
	bad := member{name: "a.sh", data: strings.Repeat("echo "+b64("touch x; touch y; touch z")+" | base"+"64 -d | sh\n", 50)}
	var texts []member
	for i := range 20 {
		bad.name = string(rune('a'+i)) + ".sh"
		texts = append(texts, bad)
	}
	if got := s.Archive("a.tar", tarOf(t, texts...)); len(got) != maxTextHits {
		t.Errorf("%d hits in texts", len(got))
	}
}
