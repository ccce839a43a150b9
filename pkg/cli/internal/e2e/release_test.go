//go:build slow

package e2e

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// buildRelease builds the program with the release settings.
func buildRelease(t testing.TB, version string) []byte {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "skillpm.exe")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X main.version="+version, "-o", binary, "../../../../cmd/skillpm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return readFile(t, binary)
}

// release is a server with the files of one release, in GitHub's layout.
type release struct {
	url     string // what the input `mirror` is
	version string
	archive string // the name of the archive

	mu    sync.Mutex
	files map[string][]byte // by path below url
	log   []string          // "GET path", and with " +token" where there was one
}

// newRelease serves a release of a binary for one target, named as .goreleaser.yaml says.
func newRelease(t testing.TB, binary []byte, version, goos, goarch string) *release {
	t.Helper()
	r := &release{version: version, files: map[string][]byte{}}
	var config struct {
		Project  string `yaml:"project_name"`
		Archives []struct {
			Formats   []string
			Name      string `yaml:"name_template"`
			Overrides []struct {
				OS      string `yaml:"goos"`
				Formats []string
			} `yaml:"format_overrides"`
		}
		Checksum struct {
			Name string `yaml:"name_template"`
		}
	}
	if err := yaml.Unmarshal(readFile(t, "../../../../.goreleaser.yaml"), &config); err != nil {
		t.Fatal(err)
	}
	archive := config.Archives[0]
	format := archive.Formats[0]
	for _, o := range archive.Overrides {
		if o.OS == goos {
			format = o.Formats[0]
		}
	}
	var name strings.Builder
	values := map[string]string{"ProjectName": config.Project, "Version": version, "Os": goos, "Arch": goarch}
	if err := template.Must(template.New("").Option("missingkey=error").Parse(archive.Name)).Execute(&name, values); err != nil {
		t.Fatal(err)
	}
	r.archive = name.String() + "." + format
	contents := [][2]string{{"LICENSE", "a licence\n"}, {"completions/skillpm.bash", "\n"}, {"skillpm", string(binary)}}
	pack := packTar
	if format == "zip" {
		contents[2][0], pack = "skillpm.exe", packZip
	}
	r.set(r.archive, pack(t, contents))
	r.set(config.Checksum.Name, fmt.Appendf(nil, "%064d  skillpm_0.0.0_plan9_mips.tar.gz\n%s  %s\n", 0, r.sum(), r.archive))
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL + "/releases"
	return r
}

// set adds a file to the release, or removes it if it is nil.
func (r *release) set(name string, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files["/releases/download/v"+r.version+"/"+name] = data
}

func (r *release) get(name string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.files["/releases/download/v"+r.version+"/"+name]
}

func (r *release) sum() string { return fmt.Sprintf("%x", sha256.Sum256(r.get(r.archive))) }

// requests returns the requests since the last call, without the common path prefix.
func (r *release) requests() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	log := strings.Join(r.log, "\n")
	r.log = nil
	return strings.ReplaceAll(strings.ReplaceAll(log, "/releases/", ""), "download/v"+r.version+"/", "")
}

// ServeHTTP answers like GitHub: `latest` leads to a tag, and a download to another host.
func (r *release) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	line := q.Method + " " + q.URL.Path
	if q.Header.Get("Authorization") != "" {
		line += " +" + q.Header.Get("Authorization")
	}
	r.log = append(r.log, line)
	if q.URL.Path == "/releases/latest" {
		w.Header().Set("Location", "http://"+q.Host+"/releases/tag/v"+r.version)
		w.WriteHeader(http.StatusFound)
		return
	}
	if host, port, _ := strings.Cut(q.Host, ":"); host == "127.0.0.1" && r.files[q.URL.Path] != nil {
		http.Redirect(w, q, "http://localhost:"+port+q.URL.Path, http.StatusFound)
		return
	}
	data := r.files[q.URL.Path]
	if data == nil {
		http.NotFound(w, q)
		return
	}
	w.Write(data)
}

func packTar(t testing.TB, contents [][2]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, c := range contents {
		if err := w.WriteHeader(&tar.Header{Name: c[0], Mode: 0o755, Size: int64(len(c[1]))}); err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(c[1]))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z.Close()
	return buf.Bytes()
}

func packZip(t testing.TB, contents [][2]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, c := range contents {
		w, err := z.Create(c[0])
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(c[1]))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// hostRelease serves a release for this machine.
func hostRelease(t testing.TB, binary []byte, version string) *release {
	t.Helper()
	return newRelease(t, binary, version, runtime.GOOS, runtime.GOARCH)
}
