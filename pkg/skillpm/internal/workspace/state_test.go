package workspace

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

var testKey = bytes.Repeat([]byte{7}, keySize)

func oddState() *state {
	s := newState()
	s.Trees[".skillpm/plugins/acme/a/a"] = treeState{Digest: "t1:sha256:1", Source: "t1:sha256:1", fingerprint: fingerprint{digest: "00", entries: "/\tSKILL.md\tx/\tx/y"}}
	s.Trees[".skillpm/links/b c"] = treeState{Digest: "t1:sha256:2", Source: "t1:sha256:1 b c", fingerprint: fingerprint{}}
	s.Trees["agent\tdir/\"x"] = treeState{Digest: "t1:sha256:3", Source: "t1:sha256:3"}
	s.Links["\"quoted\""] = "a\tb\nc\r"
	s.Links["über/ä"] = "../\xff"
	s.Directories["acme/a"] = "/some dir/with\ttab"
	s.Linked["acme/b"] = "/work here"
	s.Packs["acme/a"] = InstalledPack{Version: "1.2.0", Resolved: "sha256:1", Signer: "identity:https://a.example \tb"}
	s.Packs["acme/b"] = InstalledPack{Version: "0.0.0-1"}
	return s
}

func sameState(a, b *state) bool {
	return maps.Equal(a.Trees, b.Trees) && maps.Equal(a.Links, b.Links) && maps.Equal(a.Directories, b.Directories) && maps.Equal(a.Linked, b.Linked) && maps.Equal(a.Packs, b.Packs)
}

// TestState checks that written state is read, with any names, and that state is ignored unless this machine wrote it
// for that root.
func TestState(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	good := oddState().encode("/root", testKey)
	body := good[bytes.IndexByte(good, '\n')+1:]
	for _, tt := range []struct {
		name, root string
		data       []byte
		key        []byte
		want       *state
	}{
		{"as written", "/root", good, testKey, oddState()},
		{"of another directory", "/other", good, testKey, newState()},
		{"of another machine", "/root", good, bytes.Repeat([]byte{8}, keySize), newState()},
		{"no secret", "/root", good, nil, newState()},
		{"cut off", "/root", good[:len(good)-1], testKey, newState()},
		{"longer", "/root", append(bytes.Clone(good), "link\ta\tb\n"...), testKey, newState()},
		{"without a code", "/root", append([]byte(stateHeader+"\t\n"), body...), testKey, newState()},
		{"another format", "/root", append([]byte("skillpm-state 3"), good[len(stateHeader):]...), testKey, newState()},
		{"the format before", "/root", []byte(`{"version":1,"mac":"00","trees":{},"links":{}}`), testKey, newState()},
		{"empty", "/root", nil, testKey, newState()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(file, tt.data, 0o644); err != nil {
				t.Fatal(err)
			}
			got, err := readState(file, tt.root, tt.key)
			if err != nil || !sameState(got, tt.want) {
				t.Errorf("read %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
	if got, err := readState(filepath.Join(t.TempDir(), "none"), "/root", testKey); err != nil || !sameState(got, newState()) {
		t.Errorf("without a file: %+v, %v", got, err)
	}
}

// FuzzState reads the lines of any file. State that is read is the same after writing.
func FuzzState(f *testing.F) {
	text := oddState().encode("/root", testKey)
	f.Add(string(text[bytes.IndexByte(text, '\n')+1:]))
	f.Add("tree\ta\tb\tc\td\te\tf\nlink\t\"\t\"\nfuture\t1\n\n")
	f.Fuzz(func(t *testing.T, body string) {
		s := parseState(body)
		text := s.encode("/root", testKey)
		again := parseState(string(text[bytes.IndexByte(text, '\n')+1:]))
		if !sameState(s, again) {
			t.Errorf("%q\nis %+v\nand then %+v", body, s, again)
		}
	})
}
