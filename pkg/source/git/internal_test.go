package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/source/git/gittest"
)

// makePack returns a pack of a repository whose files are alike, so that git makes chains of deltas, and what git knows
// of its objects.
func makePack(tb testing.TB, options ...string) (pack []byte, index []string) {
	tb.Helper()
	r := gittest.New(tb, tb.TempDir(), "r.git")
	random := rand.New(rand.NewPCG(1, 2))
	lines := make([]string, 100)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %08d\n", random.IntN(100_000_000))
	}
	files := gittest.Text(map[string]string{"empty": "", "SKILL.md": gittest.Skill("x", "X.")})
	for i := range 30 {
		lines[3*i] = fmt.Sprintf("changed %05d\n", i)
		files[fmt.Sprintf("dir%d/file", i)] = gittest.File{Data: strings.Join(lines, "")}
	}
	id := r.Commit(files)
	r.AnnotatedTag("v1.0.0", id)
	objects := r.Run("rev-list", "--objects", "--no-object-names", "v1.0.0")
	data := r.Pipe([]byte(objects+"\n"), append([]string{"pack-objects", "--stdout", "--window=2"}, options...)...)
	if !strings.HasPrefix(data, "PACK") {
		tb.Fatalf("not a pack: %.20q", data)
	}
	return []byte(data), showIndex(tb, r, []byte(data))
}

// showIndex returns git's own index of a pack: offset, id and checksum of each object.
func showIndex(tb testing.TB, r *gittest.Repo, pack []byte) []string {
	tb.Helper()
	id := strings.TrimPrefix(r.Pipe(pack, "index-pack", "--stdin", "--fix-thin"), "pack\t")
	data, err := os.ReadFile(r.Dir + "/objects/pack/pack-" + id + ".idx")
	if err != nil {
		tb.Fatal(err)
	}
	lines := strings.Split(r.Pipe(data, "show-index"), "\n")
	slices.Sort(lines)
	return lines
}

// The index of a pack is the one that git makes, with both kinds of deltas.
func TestIndexPack(t *testing.T) {
	for _, options := range [][]string{{"--delta-base-offset"}, {}, {"--depth=1"}, {"--depth=0"}} {
		pack, want := makePack(t, options...)
		writer, _, err := indexPack(bytes.NewReader(pack), bytes.NewReader(pack), defaultLimits())
		if err != nil {
			t.Fatalf("%v: %v", options, err)
		}
		index, err := writer.Index()
		if err != nil {
			t.Fatal(err)
		}
		entries, err := index.Entries()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			e, err := entries.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d %s (%08x)", e.Offset, e.Hash, e.CRC32))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%v: %d objects, want %d:\n%v\n%v", options, len(got), len(want), got, want)
		}
	}
}

// What is too large is refused before it is inflated.
func TestIndexPackLimits(t *testing.T) {
	pack, _ := makePack(t, "--delta-base-offset")
	for name, change := range map[string]func(*limits){
		"objects": func(l *limits) { l.objects = 10 },
		"object":  func(l *limits) { l.object = 1000 },
		"total":   func(l *limits) { l.total = 10_000 },
		"depth":   func(l *limits) { l.depth = 3_000 },
	} {
		l := defaultLimits()
		change(&l)
		if _, _, err := indexPack(bytes.NewReader(pack), bytes.NewReader(pack), l); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%s: error %v, want that it is too large", name, err)
		}
	}
	for n := range pack {
		if n%97 != 0 {
			continue
		}
		if _, _, err := indexPack(bytes.NewReader(pack[:n]), bytes.NewReader(pack[:n]), defaultLimits()); err == nil {
			t.Errorf("a pack cut off at %d of %d bytes has an index", n, len(pack))
		}
	}
}

// Any bytes give an index or an error, within bounds.
func FuzzIndexPack(f *testing.F) {
	f.Add(smallPack(false))
	f.Add(smallPack(true))
	f.Add([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01\x30x\x9c\x03\x00\x00\x00\x00\x01"))
	small := limits{pack: 1 << 20, objects: 1000, object: 1 << 16, total: 1 << 20, depth: 1 << 18}
	f.Fuzz(func(t *testing.T, data []byte) {
		sum := sha1.Sum(data[:max(0, len(data)-sha1.Size)])
		data = append(data[:max(0, len(data)-sha1.Size):max(0, len(data)-sha1.Size)], sum[:]...)
		index, _, err := indexPack(bytes.NewReader(data), bytes.NewReader(data), small)
		if err == nil && !index.Finished() {
			t.Error("an unfinished index")
		}
	})
}

// smallPack returns a pack of a blob and a chain of two deltas on it, which name their bases by offset or by id.
func smallPack(byID bool) []byte {
	b := []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x03")
	content := []byte("a base of some bytes")
	start := len(b)
	b = appendPacked(b, 3, nil, content)
	for range 2 {
		// copy 10 bytes from offset 0, insert "xy", copy 8 bytes from offset 10
		delta := []byte{20, 20, 0x90, 10, 2, 'x', 'y', 0x91, 10, 8}
		id := plumbing.ComputeHash(plumbing.BlobObject, content)
		next := len(b)
		if byID {
			b = appendPacked(b, 7, id[:], delta)
		} else {
			b = appendPacked(b, 6, []byte{byte(next - start)}, delta)
		}
		content = slices.Concat(content[:10], []byte("xy"), content[10:18])
		start = next
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

// appendPacked appends an object of at most 127 bytes to a pack.
func appendPacked(b []byte, kind byte, base, content []byte) []byte {
	b = append(b, 0x80|kind<<4|byte(len(content)&0x0f), byte(len(content)>>4))
	b = append(b, base...)
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(content)
	_ = w.Close()
	return append(b, z.Bytes()...)
}

func TestSmallPack(t *testing.T) {
	for _, byID := range []bool{false, true} {
		pack := smallPack(byID)
		index, _, err := indexPack(bytes.NewReader(pack), bytes.NewReader(pack), defaultLimits())
		if err != nil {
			t.Fatalf("by id %v: %v", byID, err)
		}
		entries, err := index.Index()
		if err != nil {
			t.Fatal(err)
		}
		want := plumbing.ComputeHash(plumbing.BlobObject, []byte("a base of xyxysome b"))
		if ok, err := entries.Contains(want); !ok || err != nil {
			t.Errorf("by id %v: the last object is not there: %v", byID, err)
		}
	}
}

// A parsed tree has safe, distinct, sorted names.
func FuzzParseTree(f *testing.F) {
	id := strings.Repeat("\x01", 20)
	for _, s := range []string{"", "100644 a\x00" + id, "40000 b\x00" + id + "120000 a\x00" + id, "100644 .git\x00" + id, "100644 ..\x00" + id, "160000 s\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		nodes, err := parseTree(data, nil)
		if err != nil {
			return
		}
		for i, n := range nodes {
			if strings.ContainsAny(n.name, "/\x00") || n.name == "" || n.name == "." || n.name == ".." || strings.EqualFold(n.name, ".git") {
				t.Errorf("name %q", n.name)
			}
			if i > 0 && nodes[i-1].name >= n.name {
				t.Errorf("%q comes before %q", nodes[i-1].name, n.name)
			}
		}
	})
}

func TestCanonicalMode(t *testing.T) {
	for in, want := range map[filemode.FileMode]filemode.FileMode{
		0o100644: filemode.Regular, 0o100664: filemode.Regular, 0o100755: filemode.Executable, 0o100700: filemode.Executable,
		0o040000: filemode.Dir, 0o120000: filemode.Symlink, 0o160000: filemode.Submodule, 0o010000: filemode.Submodule, 0: filemode.Submodule,
	} {
		if got := canonicalMode(in); got != want {
			t.Errorf("canonicalMode(%o) = %o, want %o", uint32(in), uint32(got), uint32(want))
		}
	}
}

func TestParseNetrc(t *testing.T) {
	tests := []struct {
		text, user, pass string
		found            bool
	}{
		{"machine h.example login a password b", "a", "b", true},
		{"machine H.Example\n\tpassword b\n\tlogin a\n", "a", "b", true},
		{"machine other login x password y\nmachine h.example login a password b machine more login c password d", "a", "b", true},
		{"# machine h.example login x password y\nmachine h.example login a password b # mine", "a", "b", true},
		{`machine h.example login a password "b \"c\" d"`, "a", `b "c" d`, true},
		{"macdef init\nmachine h.example login x password y\n\nmachine h.example login a account z password b", "a", "b", true},
		{"default login x password y", "", "", false},
		{"machine h.example login a", "a", "", false},
		{"machine h.example.evil login a password b", "", "", false},
		{"machine", "", "", false},
		{`machine h.example password "open`, "", "open", true},
		{"", "", "", false},
	}
	for _, tt := range tests {
		user, pass, found := parseNetrc(tt.text, "h.example")
		if user != tt.user || pass != tt.pass || found != tt.found {
			t.Errorf("parseNetrc(%q) = %q, %q, %v; want %q, %q, %v", tt.text, user, pass, found, tt.user, tt.pass, tt.found)
		}
	}
}

// Reading a .netrc never panics, and never gives one host what is another's.
func FuzzParseNetrc(f *testing.F) {
	f.Add("machine h.example login a password b\ndefault password c")
	f.Add("macdef x\n\nmachine \"h.example\" password \"\\")
	f.Fuzz(func(t *testing.T, text string) {
		if _, pass, found := parseNetrc(text, "not.there.example"); found && !strings.Contains(strings.ToLower(text), "not.there.example") &&
			!strings.Contains(text, `\`) {
			t.Errorf("found %q for a host that is not in the file", pass)
		}
	})
}

func TestHelperAnswer(t *testing.T) {
	u, err := url.Parse("https://h.example:8443/o/r.git")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"protocol=https\nhost=h.example:8443\nusername=a\npassword=b=c\n": "a b=c",
		"protocol=https\r\nhost=h.example:8443\r\npassword=b\r\n":         " b",
		"protocol=https\nhost=evil.example\nusername=a\npassword=b\n":     " ",
		"protocol=http\nhost=h.example:8443\nusername=a\npassword=b\n":    " ",
		"": " ",
	} {
		s := helperAnswer([]byte(in), u)
		if got := s.user + " " + s.pass; got != want {
			t.Errorf("helperAnswer(%q) = %q, want %q", in, got, want)
		}
	}
}

// A body ends with an error where its bound is, and what silence causes is told from a user's interruption.
func TestGuardedBody(t *testing.T) {
	g := &guard{limits: limits{pack: 1000}, stall: stallTimeout, next: roundTrip(func(r *http.Request) (*http.Response, error) {
		rec := httptest.NewRecorder()
		_, _ = rec.WriteString(strings.Repeat("x", 10_000))
		return rec.Result(), nil
	})}
	req := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", nil)
	res, err := g.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if diag.CodeOf(err) != diag.Invalid || len(data) > 2000 {
		t.Errorf("read %d bytes, %v", len(data), err)
	}
}

func TestSilence(t *testing.T) {
	g := &guard{limits: defaultLimits(), stall: 1, next: roundTrip(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})}
	res, err := g.RoundTrip(httptest.NewRequest(http.MethodGet, "http://127.0.0.1/", nil)) //nolint:bodyclose // there is none
	if !errors.Is(err, errSilent) || res != nil {
		t.Errorf("a silent server gives %v", err)
	}
	if !strings.Contains(errSilent.Error(), "silent") {
		t.Errorf("the error is %v", errSilent)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func BenchmarkIndexPack(b *testing.B) {
	pack, _ := makePack(b, "--delta-base-offset")
	b.SetBytes(int64(len(pack)))
	for b.Loop() {
		if _, _, err := indexPack(bytes.NewReader(pack), bytes.NewReader(pack), defaultLimits()); err != nil {
			b.Fatal(err)
		}
	}
}

// Work on a tree ends with its context.
func TestTreeEndsWithContext(t *testing.T) {
	dir := t.TempDir()
	id := gittest.New(t, dir, "o/r.git").Commit(gittest.Text(map[string]string{"a/SKILL.md": gittest.Skill("a", "A.")}))
	c := New(Options{})
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	tree, err := c.tree(ctx, source.Ref{Kind: source.KindGit, URL: "file://" + dir + "/o/r.git", Digest: id})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := tree.ReadDir("a"); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context: %v", err)
	}
	if _, err := tree.during(t.Context()).ReadDir("a"); err != nil {
		t.Errorf("in another context: %v", err)
	}
}

func TestTokenVariables(t *testing.T) {
	taken := make(map[string]string)
	for _, tt := range []struct{ url, want string }{
		{"https://git.example/o/r.git", "SKILLPM_TOKEN_GIT_EXAMPLE_443 SKILLPM_TOKEN_GIT_EXAMPLE"},
		{"https://git-example/o/r.git", "SKILLPM_TOKEN_GIT__EXAMPLE_443 SKILLPM_TOKEN_GIT__EXAMPLE"},
		{"https://git--example/o/r.git", "SKILLPM_TOKEN_GIT____EXAMPLE_443 SKILLPM_TOKEN_GIT____EXAMPLE"},
		{"https://git.example:8443/o/r.git", "SKILLPM_TOKEN_GIT_EXAMPLE_8443"},
		{"https://git-example:8443/o/r.git", "SKILLPM_TOKEN_GIT__EXAMPLE_8443"},
		{"http://127.0.0.1:8080/o/r.git", "SKILLPM_TOKEN_127_0_0_1_8080"},
		{"https://127.0.0.1.8080/o/r.git", ""},
		{"https://git.example.8443/o/r.git", ""},
		{"https://git_example/o/r.git", ""},
		{"https://git.-example/o/r.git", ""},
		{"https://git-.example/o/r.git", ""},
		{"https://git..example/o/r.git", ""},
		{"https://[::1]:8443/o/r.git", ""},
	} {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		names := tokenVariables(u)
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.url, got, tt.want)
		}
		for _, name := range names {
			if other, ok := taken[name]; ok {
				t.Errorf("%s is for %s and for %s", name, other, tt.url)
			}
			taken[name] = tt.url
		}
	}
	u := &url.URL{Scheme: "https", Host: "git.example:443"}
	if got := strings.Join(tokenVariables(u), " "); got != "SKILLPM_TOKEN_GIT_EXAMPLE_443 SKILLPM_TOKEN_GIT_EXAMPLE" {
		t.Errorf("with the usual port: %s", got)
	}
}
