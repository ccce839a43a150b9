package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"testing"
)

// tarball creates malformed archives.
type tarball struct {
	t testing.TB
	b bytes.Buffer
}

func newTar(t testing.TB) *tarball { return &tarball{t: t} }

// skill adds a valid skill of that name.
func (a *tarball) skill(name string) *tarball { return a.file(name+"/SKILL.md", "---\nname: x\n---\n") }

func (a *tarball) file(name, content string) *tarball {
	return a.add(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}, content)
}

func (a *tarball) dir(name string) *tarball {
	return a.add(tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755}, "")
}

func (a *tarball) add(h tar.Header, content string) *tarball {
	a.t.Helper()
	h.Size = int64(len(content))
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&h); err != nil {
		a.t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		a.t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		a.t.Fatal(err)
	}
	a.b.Write(b.Bytes())
	return a
}

// raw adds a header that the standard library would not write: a valid file header with changes and a corrected
// checksum, and then the body.
func (a *tarball) raw(name string, body string, change func(header []byte)) *tarball {
	a.t.Helper()
	start := a.b.Len()
	a.add(tar.Header{Typeflag: tar.TypeReg, Name: "x", Mode: 0o644, Format: tar.FormatUSTAR}, body)
	header := a.b.Bytes()[start : start+512]
	clear(header[:100])
	copy(header[:100], name)
	change(header)
	copy(header[148:156], "        ")
	sum := 0
	for _, c := range header {
		sum += int(c)
	}
	copy(header[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return a
}

// pax adds an extended header with the records given as key, value, …, for the next entry ('x') or for all ('g').
func (a *tarball) pax(flag byte, records ...string) *tarball {
	var body bytes.Buffer
	for i := 0; i < len(records); i += 2 {
		record := fmt.Sprintf(" %s=%s\n", records[i], records[i+1])
		n := len(record)
		for len(fmt.Sprint(n))+len(record) != n {
			n = len(fmt.Sprint(n)) + len(record)
		}
		fmt.Fprintf(&body, "%d%s", n, record)
	}
	return a.raw("pax", body.String(), func(h []byte) { h[156] = flag })
}

// end returns the archive with its end mark.
func (a *tarball) end() []byte { return append(bytes.Clone(a.b.Bytes()), make([]byte, 1024)...) }

// zip returns the compressed archive with its end mark.
func (a *tarball) zip() []byte { return compressed(a.t, a.end()) }

func compressed(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
