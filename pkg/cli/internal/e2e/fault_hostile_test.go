//go:build slow

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
)

// archived returns a compressed archive with a good skill and one more entry.
func archived(t testing.TB, more tar.Header, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	more.Size = int64(len(content))
	for _, e := range []struct {
		header  tar.Header
		content string
	}{
		{tar.Header{Typeflag: tar.TypeReg, Name: "evil/SKILL.md", Mode: 0o644, Size: int64(len(gittest.Skill("evil", "Evil.")))}, gittest.Skill("evil", "Evil.")},
		{more, content},
	} {
		if err := w.WriteHeader(&e.header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// put stores an entry in the servers' registry.
func (w *servers) put(t testing.TB, method, path, contentType string, data []byte) string {
	t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = "http://" + w.registry.Host + path
	}
	req, err := http.NewRequestWithContext(t.Context(), method, path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
	return resp.Header.Get("Location")
}

// artifact stores an artifact of one skill whose layer is data, like a handmade one.
func (w *servers) artifact(t testing.TB, repository, tag string, data []byte) {
	t.Helper()
	empty := []byte("{}")
	for _, blob := range [][]byte{data, empty} {
		at := w.put(t, http.MethodPost, "/v2/"+repository+"/blobs/uploads/", "", nil)
		if strings.HasPrefix(at, "/") {
			at = "http://" + w.registry.Host + at
		}
		sign := map[bool]string{true: "&", false: "?"}[strings.Contains(at, "?")]
		w.put(t, http.MethodPut, fmt.Sprintf("%s%sdigest=sha256:%x", at, sign, sha256.Sum256(blob)), "application/octet-stream", blob)
	}
	const manifestType = "application/vnd.oci.image.manifest.v1+json"
	manifest := fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"artifactType":"application/vnd.agentskills.skill.v1",`+
		`"config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:%x","size":2},`+
		`"layers":[{"mediaType":"application/vnd.agentskills.skill.content.v1.tar+gzip","digest":"sha256:%x","size":%d}]}`,
		manifestType, sha256.Sum256(empty), sha256.Sum256(data), len(data))
	w.put(t, http.MethodPut, "/v2/"+repository+"/manifests/"+tag, manifestType, []byte(manifest))
}

// TestFaultHostilePack installs one malicious pack of each kind: each fails with an error that names the problem, and
// skillpm writes only to its caches. The tests of the packages cover variants.
func TestFaultHostilePack(t *testing.T) { // M2
	t.Parallel()
	w := newServers(t)
	for _, tt := range []struct {
		name    string
		header  tar.Header
		content string
		words   []string
	}{
		{"fine", tar.Header{Typeflag: tar.TypeReg, Name: "evil/planted", Mode: 0o777}, "x", nil},
		{"setuid", tar.Header{Typeflag: tar.TypeReg, Name: "evil/planted", Mode: 0o4755}, "x", []string{"setuid"}},
		{"parent", tar.Header{Typeflag: tar.TypeReg, Name: "../../../../../../planted", Mode: 0o644}, "x", []string{`a ".." component`}},
		{"absolute", tar.Header{Typeflag: tar.TypeReg, Name: "/planted", Mode: 0o644}, "x", []string{"absolute path"}},
		{"link", tar.Header{Typeflag: tar.TypeSymlink, Name: "evil/planted", Linkname: "/etc/passwd"}, "", []string{"link"}},
		{"hard link", tar.Header{Typeflag: tar.TypeLink, Name: "evil/planted", Linkname: "evil/SKILL.md"}, "", []string{"link"}},
		{"device", tar.Header{Typeflag: tar.TypeChar, Name: "evil/planted", Devmajor: 1, Devminor: 3}, "", []string{"device"}},
		{"pipe", tar.Header{Typeflag: tar.TypeFifo, Name: "evil/planted"}, "", []string{"pipe"}},
		{"git", tar.Header{Typeflag: tar.TypeReg, Name: "evil/.git/hooks/planted", Mode: 0o755}, "x", []string{".git"}},
		{"ours", tar.Header{Typeflag: tar.TypeReg, Name: "evil/.skillpm/planted", Mode: 0o644}, "x", []string{".skillpm"}},
		{"twice", tar.Header{Typeflag: tar.TypeReg, Name: "evil/SKILL.md", Mode: 0o644}, "planted", []string{"SKILL.md"}},
		{"escape", tar.Header{Typeflag: tar.TypeReg, Name: "evil/\x1b[2Jplanted", Mode: 0o644}, "x", []string{`\x1b[2J`}},
		{"bidi", tar.Header{Typeflag: tar.TypeReg, Name: "evil/\u202eplanted", Mode: 0o644}, "x", []string{`\u202e`}},
		{"device of Windows", tar.Header{Typeflag: tar.TypeReg, Name: "evil/nul", Mode: 0o644}, "planted", []string{"Windows device"}},
		{"bomb", tar.Header{Typeflag: tar.TypeReg, Name: "evil/planted", Mode: 0o644}, strings.Repeat("\x00", 130<<20), []string{"the limit is"}},
	} {
		t.Run("archive with "+tt.name, func(t *testing.T) {
			tag := strings.ReplaceAll(tt.name, " ", "-")
			w.artifact(t, "evil/evil", tag, archived(t, tt.header, tt.content))
			refuses(t, w, w.registry.URL("evil/evil")+":"+tag, 3, tt.words)
		})
	}
	dir := t.TempDir()
	repo := gittest.New(t, dir, "evil/evil.git")
	server := gittest.Serve(t, dir)
	skill := gittest.Entry{Mode: "100644", Name: "SKILL.md", ID: repo.Blob(gittest.Skill("evil", "Evil."))}
	planted := repo.Blob("planted")
	hooks := repo.RawTree(gittest.Entry{Mode: "100755", Name: "planted", ID: planted})
	for _, tt := range []struct {
		name  string
		more  gittest.Entry
		words []string
	}{
		{"a file", gittest.Entry{Mode: "100644", Name: "planted", ID: planted}, nil},
		{"parent", gittest.Entry{Mode: "40000", Name: "..", ID: hooks}, []string{`".."`}},
		{"git", gittest.Entry{Mode: "40000", Name: ".git", ID: hooks}, []string{".git"}},
		{"git spelled otherwise", gittest.Entry{Mode: "40000", Name: "GIT~1", ID: hooks}, []string{"GIT~1"}},
		{"path", gittest.Entry{Mode: "100644", Name: "../../planted", ID: planted}, []string{"planted"}},
		{"link", gittest.Entry{Mode: "120000", Name: "planted", ID: planted}, []string{"link"}},
		{"submodule", gittest.Entry{Mode: "160000", Name: "planted", ID: strings.Repeat("1", 40)}, []string{"special file"}},
	} {
		t.Run("tree with "+tt.name, func(t *testing.T) {
			branch := strings.ReplaceAll(tt.name, " ", "-")
			repo.CommitTree(branch, repo.RawTree(gittest.Entry{Mode: "40000", Name: "evil", ID: repo.RawTree(skill, tt.more)}))
			refuses(t, w, "git+"+server+"/evil/evil.git#"+branch, 3, tt.words)
		})
	}
	for _, tt := range []struct {
		name, dependency string
		code             int
		words            []string
	}{
		{"file", `{git: "file:///srv/x.git", tag: v1}`, 7, []string{"only the root skillpm.yaml"}},
		{
			"plain http", `{git: "http://git.example/x.git", tag: v1}`, 3,
			[]string{"plain HTTP is not allowed for packs"},
		},
		{"directory outside", `{path: ../../../x}`, 7, []string{"outside the repository"}},
		{"absolute directory", `{path: /etc}`, 7, []string{"outside the repository"}},
		{"transport that runs", `{git: "ext::sh -c touch% planted", tag: v1}`, 3, []string{"skillpm.yaml"}},
		{"option for ssh", `{git: "ssh://-oProxyCommand=touch/x.git", tag: v1}`, 3, []string{"skillpm.yaml"}},
		{"option for git", `{git: "https://git.example/x.git", tag: "--upload-pack=touch"}`, 3, []string{"skillpm.yaml"}},
	} {
		t.Run("requirement of "+tt.name, func(t *testing.T) {
			branch := "requires-" + strings.ReplaceAll(tt.name, " ", "-")
			repo.CommitOn(branch, gittest.Text(map[string]string{
				"skillpm.yaml":  "name: evil/evil\nversion: \"1.0.0\"\ndependencies:\n  acme/x: " + tt.dependency + "\n",
				"evil/SKILL.md": gittest.Skill("evil", "Evil."),
			}))
			refuses(t, w, "git+"+server+"/evil/evil.git#"+branch, tt.code, tt.words)
		})
	}
}

// refuses proves that a pack fails with a code and an error that contains all words, or installs if there are no words.
func refuses(t *testing.T, w *servers, pack string, code int, words []string) {
	t.Helper()
	m := newMachine(t, w)
	before := m.firstVersions()
	root := filepath.Dir(m.home)
	if words == nil {
		m.ok("install", pack)
		if tree := m.tree(); tree[".skillpm/plugins/evil/evil/evil/planted"] == "" {
			t.Errorf("nothing was planted: %q", tree)
		}
		return
	}
	e := m.fails(code, words, "install", pack)
	if strings.ContainsAny(e.err, "\x1b\u202e") {
		t.Errorf("it is written raw: %q", e.err)
	}
	same(t, "refused", m.tree(), before)
	m.leftNothing()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.Contains(d.Name(), "planted") {
			t.Errorf("%s was written", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	m.ok("install", "--frozen")
	m.ok("verify")
}
