package index_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

func TestDeprecate(t *testing.T) {
	data, err := index.AppendDeprecate("f", line("1.0.0").Encode(), "use <acme/ship>")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(data, []byte("\n{\"deprecated\":\"use <acme/ship>\"}\n")) {
		t.Errorf("got %s", data)
	}
	if entry, err := index.Parse("f", data); err != nil || entry.Deprecated != "use <acme/ship>" || len(entry.Versions) != 1 {
		t.Errorf("got %+v %v", entry, err)
	}
	if data, err = index.AppendDeprecate("f", data, ""); err != nil {
		t.Fatal(err)
	}
	if entry, err := index.Parse("f", data); err != nil || entry.Deprecated != "" {
		t.Errorf("taken back: %+v %v", entry, err)
	}
	good := string(line("1.0.0").Encode())
	for text, want := range map[string]string{
		`{"deprecated":"x"}`:                                            "no earlier line publishes a version",
		good + `{"deprecated":""}`:                                      "deprecated must be a message or false",
		good + `{"deprecated":true}`:                                    "deprecated must be a message or false",
		good + `{"deprecated":"x","version":"1.0.0"}`:                   "must contain only deprecated",
		good + `{"deprecated":"x","yanked":"y","version":"1.0.0"}`:      "must contain only version and yanked",
		good + `{"deprecated":"x","name":"acme/other"}`:                 "this line is for acme/other",
		strings.Replace(good, `{"name"`, `{"deprecated":"x","name"`, 1): "must contain only deprecated",
	} {
		if _, err := index.Parse("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestTags(t *testing.T) {
	l := line("1.0.0")
	l.Tags, l.Description, l.License = []string{"k8s", "größe"}, "Deploys", "MIT"
	data, err := index.Append("f", nil, l)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := index.Parse("f", data)
	if err != nil || !slices.Equal(entry.Versions[0].Tags, l.Tags) || entry.Versions[0].Description != "Deploys" || entry.Versions[0].License != "MIT" {
		t.Errorf("got %+v %v", entry, err)
	}
	for _, bad := range [][]string{{""}, {"two words"}, {"a\x1b"}, {strings.Repeat("é", 65)}, make([]string, 65)} {
		l.Tags = bad
		if err := l.Check(); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestEntryCatalog(t *testing.T) {
	for _, tt := range []struct {
		versions []string // -x is withdrawn
		want     string
	}{
		{[]string{"1.0.0", "1.10.0", "1.9.0"}, "1.10.0"},
		{[]string{"1.0.0", "2.0.0-rc.1"}, "1.0.0"},
		{[]string{"1.0.0-rc.1", "1.0.0-rc.2"}, "1.0.0-rc.2"},
		{[]string{"1.0.0", "-2.0.0"}, "1.0.0"},
		{[]string{"-1.0.0", "-2.0.0"}, ""},
	} {
		var data []byte
		var err error
		for _, v := range tt.versions {
			plain := strings.TrimPrefix(v, "-")
			if data, err = index.Append("f", data, line(plain)); err != nil {
				t.Fatal(err)
			}
			if plain == v {
				continue
			}
			if data, err = index.AppendYank("f", data, plain, "bad"); err != nil {
				t.Fatal(err)
			}
		}
		entry, err := index.Parse("f", data)
		if err != nil {
			t.Fatal(err)
		}
		c, ok := entry.Catalog()
		if ok != (tt.want != "") || c.Version != tt.want {
			t.Errorf("%q: got %+v, want %q", tt.versions, c, tt.want)
		}
	}
}

func entries(n int) iter.Seq[index.CatalogEntry] {
	return func(yield func(index.CatalogEntry) bool) {
		for i := range n {
			if !yield(index.CatalogEntry{
				Name: fmt.Sprintf("acme/pack-%07d", i), Version: "1.4.0", Description: "Deploys <it> & waits until it is healthy",
				License: "MIT", Tags: []string{"k8s", "deploy"}, Published: "2026-11-20T09:30:00Z",
				Skills: []index.CatalogSkill{{Name: fmt.Sprintf("deploy-%d", i), Description: "Deploys a service and waits. Use it to ship."}},
			}) {
				return
			}
		}
	}
}

func readAll(data []byte) (list []index.CatalogEntry, err error) {
	for e, err := range index.ReadCatalog(bytes.NewReader(data)) {
		if err != nil {
			return list, err
		}
		list = append(list, e)
	}
	return list, nil
}

func TestCatalog(t *testing.T) {
	var first, second bytes.Buffer
	if err := index.WriteCatalog(&first, entries(1000)); err != nil {
		t.Fatal(err)
	}
	list, err := readAll(first.Bytes())
	if err != nil || len(list) != 1000 {
		t.Fatalf("%d entries, %v", len(list), err)
	}
	if err := index.WriteCatalog(&second, slices.Values(list)); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("what was read is written differently: %v", err)
	}
	zr, err := gzip.NewReader(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := readAll(text); err != nil || len(again) != 1000 {
		t.Errorf("unpacked by a server: %d entries, %v", len(again), err)
	}
	unsorted := slices.Values([]index.CatalogEntry{list[1], list[0]})
	if err := index.WriteCatalog(io.Discard, unsorted); err == nil {
		t.Error("an unsorted catalogue was written")
	}
}

func zipped(text string) []byte {
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	_, _ = zw.Write([]byte(text))
	_ = zw.Close()
	return b.Bytes()
}

func TestReadCatalogRefuses(t *testing.T) {
	good := `{"name":"acme/b","version":"1.0.0","skills":[]}` + "\n"
	whole := zipped(strings.Repeat(good, 1))
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"not JSON", []byte("<html>"), "catalog.ndjson.gz:1: "},
		{"not gzip", []byte{0x1f, 0x8b, 0, 0}, "catalog.ndjson.gz: "},
		{"cut off", whole[:len(whole)-9], "unexpected EOF"},
		{"another sum", append(slices.Clone(whole[:len(whole)-8]), 0, 0, 0, 0, 0, 0, 0, 0), "checksum"},
		{"twice", zipped(good + good), "catalog.ndjson.gz:2: the names are not sorted"},
		{"a name", zipped(strings.Replace(good, "acme/b", "../b", 1)), "owner"},
		{"a version", zipped(strings.Replace(good, "1.0.0", "1", 1)), "semantic version"},
		{"a type", zipped(strings.Replace(good, `[]`, `{}`, 1)), "skills"},
		{"many empty lines", zipped(strings.Repeat("\n", 4<<20+1)), "catalog.ndjson.gz has more than 4194304 lines"},
		{"a long line", zipped(good + strings.Repeat("x", 2<<20)), "catalog.ndjson.gz:2: the line is larger than 1048576 bytes"},
	} {
		if _, err := readAll(tt.data); diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

func FuzzReadCatalog(f *testing.F) {
	var b bytes.Buffer
	_ = index.WriteCatalog(&b, entries(3))
	f.Add(b.Bytes())
	f.Add([]byte(`{"name":"acme/b","version":"1.0.0","skills":[{"name":"x"}],"tags":["a"],"deprecated":"x"}`))
	f.Add(zipped("{}\n\n[]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := readAll(data)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := index.WriteCatalog(&again, slices.Values(list)); err != nil {
			t.Fatalf("what was cannot write to read: %v", err)
		}
		if second, err := readAll(again.Bytes()); err != nil || len(second) != len(list) {
			t.Fatalf("%d entries are %d when they are read again: %v", len(list), len(second), err)
		}
	})
}

// BenchmarkCatalog writes and reads a catalog of 100,000 packs.
func BenchmarkCatalog(b *testing.B) {
	var data bytes.Buffer
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			data.Reset()
			if err := index.WriteCatalog(&data, entries(100_000)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(data.Len()), "file-bytes")
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, err := range index.ReadCatalog(bytes.NewReader(data.Bytes())) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
