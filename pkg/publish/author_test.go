package publish_test

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/publish"
)

// newClient returns a client for dir with its own home.
func newClient(tb testing.TB, dir string) *publish.Client {
	tb.Helper()
	home := tb.TempDir()
	none := func(string) string { return "" }
	env, err := environ.Environment{
		Paths:  scope.Paths{Home: home, Enterprise: filepath.Join(home, "enterprise")},
		Getenv: none, Now: time.Now, OS: runtime.GOOS, Version: "0.1.0",
	}.At(dir)
	if err != nil {
		tb.Fatal(err)
	}
	c := publish.New(publish.Options{Environment: env})
	tb.Cleanup(c.Close)
	return c
}

// writeFiles writes files below a directory.
func writeFiles(tb testing.TB, dir string, files map[string]string) {
	tb.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}

const hello = "---\nname: hello\ndescription: Says hello. Use it first.\n"

// TestWords checks that the keywords of a release are those of its manifest and then of its skills, each once, in the
// form of tags.
func TestWords(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"skillpm.yaml":    "name: acme/hello\nversion: \"1.0.0\"\ntags: [greeting, people]\n",
		"hello/SKILL.md":  hello + "metadata:\n  tags: \"People,  Small talk , 挨拶\"\n---\n\nSay hello.\n",
		"second/SKILL.md": strings.Replace(hello, "name: hello", "name: second", 1) + "metadata: {tags: k8s}\n---\n\nSay it twice.\n",
	})
	r, err := newClient(t, dir).Publish(t.Context(), publish.ReleaseOptions{DryRun: true})
	if err != nil || !r.Valid {
		t.Fatal(r, err)
	}
	if want := []string{"greeting", "people", "small-talk", "k8s"}; !slices.Equal(r.Words, want) {
		t.Errorf("the words are %q, want %q", r.Words, want)
	}
}

// TestPublishAtOnce checks that concurrent publishers publish once: the version exists with one digest, and no
// publisher gets an error.
func TestPublishAtOnce(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"skillpm.yaml": "name: acme/hello\nversion: \"1.0.0\"\n", "hello/SKILL.md": hello + "---\n\nSay hello.\n"})
	server := ocitest.New(t)
	type result struct {
		r   *publish.ReleaseReport
		err error
	}
	results := make(chan result)
	const n = 4
	for range n {
		c := newClient(t, dir)
		go func() {
			r, err := c.Publish(t.Context(), publish.ReleaseOptions{To: server.URL("acme")})
			results <- result{r, err}
		}()
	}
	digests := map[string]bool{}
	for range n {
		got := <-results
		if got.err != nil {
			t.Fatal(got.err)
		}
		digests[got.r.Digest] = true
	}
	if len(digests) != 1 {
		t.Errorf("%d digests: %v", len(digests), digests)
	}
}

// writeTar returns a tar of entries. A name that ends with a slash is a directory, one with an arrow a link.
func writeTar(tb testing.TB, entries ...string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range entries {
		head := &tar.Header{Name: name, Mode: 0o644, Size: 1, Typeflag: tar.TypeReg}
		if from, to, ok := strings.Cut(name, "->"); ok {
			head = &tar.Header{Name: from, Linkname: to, Typeflag: tar.TypeSymlink}
		}
		if strings.HasSuffix(name, "/") {
			head.Size, head.Typeflag = 0, tar.TypeDir
		}
		if err := w.WriteHeader(head); err != nil {
			tb.Fatal(err)
		}
		if head.Size > 0 {
			if _, err := w.Write([]byte("x")); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// TestPackedRefuses checks that a tar with an entry that is not a file of a layout is rejected before its content is
// used.
func TestPackedRefuses(t *testing.T) {
	blob := "blobs/sha256/" + strings.Repeat("a", 64)
	for name, tt := range map[string]struct {
		entries []string
		want    string
	}{
		"a path out":    {[]string{"oci-layout", "../evil"}, "is not part of an OCI image layout"},
		"an absolute":   {[]string{"/etc/passwd"}, "is not part of an OCI image layout"},
		"a link":        {[]string{"index.json->/etc/passwd"}, "is not part of an OCI image layout"},
		"a linked blob": {[]string{blob + "->/etc/passwd"}, "is not part of an OCI image layout"},
		"another file":  {[]string{"blobs/sha256/short"}, "is not part of an OCI image layout"},
		"the same name": {[]string{blob, "./" + blob}, "exists"},
		"no index":      {[]string{"blobs/", blob}, "does not contain packs"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "p.tar"), writeTar(t, tt.entries...), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := newClient(t, dir).PublishPacked(t.Context(), "p.tar", publish.ReleaseOptions{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// FuzzPublishPacked checks for any tar that no files are written outside, and that it never counts as packs.
func FuzzPublishPacked(f *testing.F) {
	f.Add(writeTar(f, "oci-layout", "index.json"))
	f.Add(writeTar(f, "../x", "blobs/"))
	f.Add([]byte("no tar"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "p.tar"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		if r, err := newClient(t, dir).PublishPacked(t.Context(), "p.tar", publish.ReleaseOptions{To: "oci-layout:out"}); err == nil && len(r.Packs) > 0 {
			t.Errorf("published %v", r.Packs)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("beside the tar: %v, %v", entries, err)
		}
	})
}

// TestYankRefuses checks that the message for users is one short line.
func TestYankRefuses(t *testing.T) {
	c := newClient(t, t.TempDir())
	for _, reason := range []string{"two\nlines", "\x1b[31mred", strings.Repeat("x", 501), "\xff"} {
		if _, err := c.Yank(t.Context(), "acme/hello@1.0.0", reason, ""); diag.CodeOf(err) != diag.Usage {
			t.Errorf("reason %.20q: %v", reason, err)
		}
	}
}
