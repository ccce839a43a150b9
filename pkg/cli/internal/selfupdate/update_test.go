package selfupdate

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
)

// releaseServer serves releases as GitHub does: "latest" leads to a tag, and downloads lead to another host.
type releaseServer struct {
	url, key string
	signer   ssh.Signer

	mu     sync.Mutex
	latest string
	files  map[string][]byte // by path below url
	gets   []string
}

func newReleaseServer(t *testing.T) *releaseServer {
	t.Helper()
	s := &releaseServer{files: map[string][]byte{}}
	s.signer, s.key = newKey(t)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// newKey returns a key pair; the public key is in the format of OpenSSH.
func newKey(t *testing.T) (ssh.Signer, string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
}

func (s *releaseServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/latest" && s.latest != "" {
		http.Redirect(w, r, "/tag/v"+s.latest, http.StatusFound)
		return
	}
	data, ok := s.files[r.URL.Path]
	switch host, port, _ := strings.Cut(r.Host, ":"); {
	case !ok:
		http.NotFound(w, r)
	case host == "127.0.0.1":
		http.Redirect(w, r, "http://localhost:"+port+r.URL.Path, http.StatusFound)
	default:
		s.gets = append(s.gets, r.URL.Path)
		w.Write(data)
	}
}

// publish adds a signed release for one target whose program has the given content.
func (s *releaseServer) publish(t *testing.T, version, goos, content string) {
	t.Helper()
	archive := fmt.Sprintf("skillpm_%s_%s_%s.tar.gz", version, goos, runtime.GOARCH)
	data := packTar(t, [][2]string{{"LICENSE", "text"}, {"man/skillpm", "page"}, {"skillpm", content}})
	if goos == windows {
		archive = strings.TrimSuffix(archive, "tar.gz") + "zip"
		data = packZip(t, [][2]string{{"LICENSE", "text"}, {"skillpm.exe", content}})
	}
	s.latest = version
	s.set(version, archive, data)
	s.seal(t, version, fmt.Sprintf("%064d  skillpm_%s_plan9_mips.tar.gz\n%x  %s\n", 0, version, sha256.Sum256(data), archive))
}

// seal sets and signs the checksums of a release.
func (s *releaseServer) seal(t *testing.T, version, checksums string) {
	t.Helper()
	s.set(version, checksumsFile, []byte(checksums))
	s.set(version, signatureFile, signed(t, s.signer, Namespace, checksums))
}

func (s *releaseServer) set(version, file string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files["/download/v"+version+"/"+file] = data
}

func (s *releaseServer) remove(version, file string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, "/download/v"+version+"/"+file)
}

func signed(t *testing.T, signer ssh.Signer, namespace, text string) []byte {
	t.Helper()
	signature, err := sshsig.Sign(strings.NewReader(text), signer, sshsig.HashSHA512, namespace)
	if err != nil {
		t.Fatal(err)
	}
	return sshsig.Armor(signature)
}

func packTar(t *testing.T, files [][2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f[0], Mode: 0o755, Size: int64(len(f[1]))}); err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(f[1]))
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func packZip(t *testing.T, files [][2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f[0])
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(f[1]))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// installed is a program in a directory of its own, as a release installs it.
type installed struct {
	*console.App
	path           string
	stdout, stderr bytes.Buffer
}

// install writes a program that a release with the server's key could be.
func (s *releaseServer) install(t *testing.T, version string) *installed {
	t.Helper()
	p := &installed{path: filepath.Join(t.TempDir(), "bin", "skillpm")}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.path, []byte("old"), 0o750); err != nil {
		t.Fatal(err)
	}
	p.App = &console.App{
		Environment: environ.Environment{
			Stdout: &p.stdout, Stderr: &p.stderr, Now: time.Now, Version: version, OS: runtime.GOOS,
			Getenv: func(string) string { return "" },
		},
		Release: console.Release{Program: "skillpm", Keys: s.key},
	}
	return p
}

// run runs self-update and returns its error.
func (p *installed) run(mirror string, args ...string) error {
	cmd := newCommand(&command{App: p.App, executable: p.path})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append(args, "--mirror", mirror))
	defer p.EndProgress()
	return cmd.ExecuteContext(p.Watched(context.Background()))
}

// wantProgram checks the content of the program, and that nothing else is in its directory.
func (p *installed) wantProgram(t *testing.T, want string) {
	t.Helper()
	data, err := os.ReadFile(p.path)
	if err != nil || string(data) != want {
		t.Errorf("the program is %q, want %q (%v)", data, want, err)
	}
	info, err := os.Stat(p.path)
	if err == nil && runtime.GOOS != windows && info.Mode().Perm() != 0o750 {
		t.Errorf("the program has mode %v", info.Mode())
	}
	entries, err := os.ReadDir(filepath.Dir(p.path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v (%v)", entries, err)
	}
}

func wantError(t *testing.T, err error, code diag.Code, parts ...string) {
	t.Helper()
	if err == nil || diag.CodeOf(err) != code {
		t.Fatalf("error %v with code %v, want %v", err, diag.CodeOf(err), code)
	}
	for _, part := range parts {
		if text := diag.TextOf(err); !strings.Contains(text, part) {
			t.Errorf("error %q does not contain %q", text, part)
		}
	}
}

// TestUpdateShowsServer proves that the progress display shows the requests of an update, and nothing after it.
func TestUpdateShowsServer(t *testing.T) {
	s := newReleaseServer(t)
	s.publish(t, "1.3.0", runtime.GOOS, "1.3.0")
	p := s.install(t, "1.2.3")
	p.Verbose = 1
	if err := p.run(s.url); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^skillpm: localhost:\d+: 3 requests, received .+ in .+\n\z`).Match(p.stderr.Bytes()) {
		t.Errorf("standard error:\n%s", p.stderr.String())
	}
}

func TestUpdate(t *testing.T) {
	for _, test := range []struct {
		name, version string
		args          []string
		want          string // content of the program
		output        string
		code          diag.Code
	}{
		{"newer", "1.2.3", nil, "1.3.0", "Installed skillpm 1.3.0, replacing 1.2.3", 0},
		{"same", "1.3.0", nil, "old", "skillpm 1.3.0 is up to date", 0},
		{"older", "1.4.0", nil, "old", "skillpm 1.4.0 is up to date", 0},
		{"prerelease", "1.3.0-rc.1", nil, "1.3.0", "Installed skillpm 1.3.0, replacing 1.3.0-rc.1", 0},
		{"named and older", "1.4.0", []string{"1.2.0"}, "1.2.0", "Installed skillpm 1.2.0, replacing 1.4.0", 0},
		{"named with v", "1.4.0", []string{"v1.3.0"}, "1.3.0", "Installed skillpm 1.3.0, replacing 1.4.0", 0},
		{"named and same", "1.2.0", []string{"1.2.0"}, "old", "skillpm 1.2.0 is up to date", 0},
		{"check newer", "1.2.3", []string{"--check"}, "old", "skillpm 1.3.0 is available; the installed version is 1.2.3", diag.Invalid},
		{"check same", "1.3.0", []string{"--check"}, "old", "skillpm 1.3.0 is up to date", 0},
		{"check named", "1.3.0", []string{"--check", "1.2.0"}, "old", "", diag.Usage},
		{"not a release", "1.3.0", []string{"newest"}, "old", "", diag.Usage},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newReleaseServer(t)
			s.publish(t, "1.2.0", runtime.GOOS, "1.2.0")
			s.publish(t, "1.3.0", runtime.GOOS, "1.3.0")
			p := s.install(t, test.version)
			if err := p.run(s.url, test.args...); diag.CodeOf(err) != test.code {
				t.Errorf("exit %d, want %d: %v", diag.CodeOf(err), test.code, err)
			}
			p.wantProgram(t, test.want)
			if !strings.Contains(p.stdout.String(), test.output) {
				t.Errorf("output %q, want %q", p.stdout.String(), test.output)
			}
			if test.want == "old" && len(s.gets) > 0 {
				t.Errorf("it downloaded %v", s.gets)
			}
		})
	}
}

// TestUpdateTrustsCertificates proves that the setting ca-file applies to updates, as to all other downloads.
func TestUpdateTrustsCertificates(t *testing.T) {
	server := httptest.NewTLSServer(http.RedirectHandler("/tag/v1.3.0", http.StatusFound))
	defer server.Close()
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	s := newReleaseServer(t)
	p := s.install(t, "1.2.3")
	home := t.TempDir()
	p.Dir, p.Paths.Home = home, home
	wantError(t, p.run(server.URL, "--check"), diag.Remote, "certificate")

	p = s.install(t, "1.2.3")
	p.Dir, p.Paths.Home, p.Config = home, home, filepath.Join(home, "config.yaml")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for name, data := range map[string][]byte{"ca.pem": certificate, "config.yaml": []byte("ca-file: ca.pem\n")} {
		if err := os.WriteFile(filepath.Join(home, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.run(server.URL, "--check"); diag.CodeOf(err) != diag.Invalid || !strings.Contains(p.stdout.String(), "1.3.0 is available") {
		t.Errorf("%v: %s", err, p.stdout.String())
	}
}

func TestUpdateJSON(t *testing.T) {
	s := newReleaseServer(t)
	s.publish(t, "1.3.0", runtime.GOOS, "new")
	p := s.install(t, "1.2.3")
	p.JSON = true
	if err := p.run(s.url); err != nil {
		t.Fatal(err)
	}
	want := Document{Version: "1.2.3", Release: "1.3.0", Outdated: true, Updated: true}
	var got Document
	if err := json.Unmarshal(p.stdout.Bytes(), &got); err != nil || got != want {
		t.Errorf("output %s, want %v (%v)", p.stdout.String(), want, err)
	}
}

// TestBadRelease proves that nothing is replaced unless the checksums are signed by a release key and match.
func TestBadRelease(t *testing.T) {
	archive := fmt.Sprintf("skillpm_1.3.0_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	if runtime.GOOS == windows {
		archive = strings.TrimSuffix(archive, "tar.gz") + "zip"
	}
	file := func(s *releaseServer, name string) string { return string(s.files["/download/v1.3.0/"+name]) }
	sealData := func(t *testing.T, s *releaseServer, data []byte) {
		s.set("1.3.0", archive, data)
		s.seal(t, "1.3.0", fmt.Sprintf("%x  %s\n", sha256.Sum256(data), archive))
	}
	for _, test := range []struct {
		name  string
		spoil func(t *testing.T, s *releaseServer)
		code  diag.Code
		parts []string
	}{
		{"other archive", func(t *testing.T, s *releaseServer) {
			s.set("1.3.0", archive, packTar(t, [][2]string{{"skillpm", "evil"}}))
		}, diag.Integrity, []string{"cannot verify " + archive + ": the digest differs from the signed checksum"}},
		{"truncated download", func(_ *testing.T, s *releaseServer) {
			s.set("1.3.0", archive, []byte(file(s, archive)[:100]))
		}, diag.Integrity, []string{"differs from the signed checksum"}},
		{"other checksums", func(_ *testing.T, s *releaseServer) {
			s.set("1.3.0", checksumsFile, []byte(strings.Replace(file(s, checksumsFile), "0", "1", 1)))
		}, diag.Integrity, []string{"does not match the content", "skillpm did not replace the program"}},
		{"other key", func(t *testing.T, s *releaseServer) {
			other, _ := newKey(t)
			s.set("1.3.0", signatureFile, signed(t, other, Namespace, file(s, checksumsFile)))
		}, diag.Integrity, []string{"from a key that is not allowed to sign"}},
		{"other purpose", func(t *testing.T, s *releaseServer) {
			s.set("1.3.0", signatureFile, signed(t, s.signer, "git", file(s, checksumsFile)))
		}, diag.Integrity, []string{`has the namespace "git"`}},
		{"not a signature", func(_ *testing.T, s *releaseServer) {
			s.set("1.3.0", signatureFile, []byte("signed, really"))
		}, diag.Integrity, []string{"is unreadable"}},
		{"no signature", func(_ *testing.T, s *releaseServer) {
			s.remove("1.3.0", signatureFile)
		}, diag.Integrity, []string{"release 1.3.0 is not signed"}},
		{"checksums of another release", func(t *testing.T, s *releaseServer) {
			s.seal(t, "1.3.0", strings.ReplaceAll(file(s, checksumsFile), "1.3.0", "1.2.0"))
		}, diag.NotFound, []string{"the release does not contain " + archive}},
		{"two checksums", func(t *testing.T, s *releaseServer) {
			s.seal(t, "1.3.0", file(s, checksumsFile)+file(s, checksumsFile))
		}, diag.Integrity, []string{"checksums.txt of the release has an invalid or duplicate line"}},
		{"short checksum", func(t *testing.T, s *releaseServer) {
			s.seal(t, "1.3.0", "abcd  "+archive+"\n")
		}, diag.Integrity, []string{"checksums.txt of the release has an invalid or duplicate line"}},
		{"truncated archive", func(t *testing.T, s *releaseServer) {
			sealData(t, s, []byte(file(s, archive)[:100]))
		}, diag.Invalid, []string{"cannot unpack " + archive}},
		{"no program", func(t *testing.T, s *releaseServer) {
			sealData(t, s, packTar(t, [][2]string{{"LICENSE", "text"}, {"bin/skillpm", "elsewhere"}}))
		}, diag.Invalid, []string{"cannot unpack " + archive}},
		{"no archive", func(_ *testing.T, s *releaseServer) {
			s.remove("1.3.0", archive)
		}, diag.NotFound, []string{archive + " does not exist"}},
		{"no release", func(_ *testing.T, s *releaseServer) {
			s.latest = ""
		}, diag.Remote, []string{"instead of a redirect", "skillpm self-update VERSION"}},
		{"latest is not a release", func(_ *testing.T, s *releaseServer) {
			s.latest = "nightly"
		}, diag.Remote, []string{`redirects to "nightly", which is not a release`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newReleaseServer(t)
			s.publish(t, "1.3.0", runtime.GOOS, "new")
			test.spoil(t, s)
			p := s.install(t, "1.2.3")
			wantError(t, p.run(s.url), test.code, test.parts...)
			p.wantProgram(t, "old")
		})
	}
}

// TestReleaseKeys proves that each key of a build is accepted, and that a build without keys refuses to update.
func TestReleaseKeys(t *testing.T) {
	s := newReleaseServer(t)
	s.publish(t, "1.3.0", runtime.GOOS, "new")
	_, next := newKey(t)
	p := s.install(t, "1.2.3")
	p.Release.Keys = next + "," + s.key + " release@example"
	if err := p.run(s.url); err != nil {
		t.Fatal(err)
	}
	p.wantProgram(t, "new")

	p = s.install(t, "1.2.3")
	p.Release.Keys = ""
	wantError(t, p.run(s.url), diag.Denied, "does not contain a release key", "go install")
	p = s.install(t, "") // a build from source
	wantError(t, p.run(s.url), diag.Denied, "is not a release", "go install")
	p.wantProgram(t, "old")
	p = s.install(t, "1.2.3")
	p.Release.Keys = "ssh-ed25519 AAAA"
	wantError(t, p.run(s.url), diag.Internal, "the release keys of this build")
	p.wantProgram(t, "old")
}

func TestMirror(t *testing.T) {
	for mirror, ok := range map[string]bool{
		Releases:                           true,
		"https://mirror.example/skillpm/":  true,
		"http://localhost:8080":            true,
		"http://127.0.0.1:8080/releases":   true,
		"http://mirror.example":            false,
		"file:///srv/releases":             false,
		"mirror.example":                   false,
		"":                                 false,
		"https://mirror.example/?a=b":      false,
		"https://me:secret@mirror.example": false,
	} {
		if err := CheckMirror(mirror); (err == nil) != ok {
			t.Errorf("%q: %v", mirror, err)
		} else if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error shows the password: %v", mirror, err)
		}
	}
	s := newReleaseServer(t)
	p := s.install(t, "1.2.3")
	wantError(t, p.run("http://mirror.example"), diag.Usage, "is not an https:// address")
	server := httptest.NewServer(nil)
	server.Close() // nothing listens there now
	wantError(t, p.run(server.URL), diag.Remote, "cannot reach 127.0.0.1")
}

// TestReadOnlyDirectory proves that a directory that is not writable is reported before anything is downloaded.
func TestReadOnlyDirectory(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == windows {
		t.Skip("nothing is forbidden to this user")
	}
	s := newReleaseServer(t)
	s.publish(t, "1.3.0", runtime.GOOS, "new")
	p := s.install(t, "1.2.3")
	dir := filepath.Dir(p.path)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	wantError(t, p.run(s.url), diag.Denied, "cannot replace "+p.path+": permission denied", "sudo "+p.path+" self-update")
	p.wantProgram(t, "old")
	if len(s.gets) > 0 {
		t.Errorf("it downloaded %v", s.gets)
	}
}

// TestWindows proves that the running program is moved out of the way, also if the last update left its file.
func TestWindows(t *testing.T) {
	s := newReleaseServer(t)
	s.publish(t, "1.3.0", windows, "new")
	p := s.install(t, "1.2.3")
	u := &Updater{
		Mirror: s.url, Program: "skillpm", Keys: s.key, Executable: p.path, OS: windows, Arch: runtime.GOARCH,
		Client: http.DefaultClient,
	}
	if err := os.WriteFile(p.path+".old", []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := u.Update(t.Context(), "1.3.0"); err != nil {
		t.Fatal(err)
	}
	p.wantProgram(t, "new")

	s.set("1.3.0", signatureFile, []byte("bad"))
	wantError(t, u.Update(t.Context(), "1.3.0"), diag.Integrity)
	p.wantProgram(t, "new")
}

func TestDetectManager(t *testing.T) {
	fromModule := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3", Sum: "h1:abc="}}
	for _, test := range []struct {
		path     string
		info     *debug.BuildInfo
		released bool
		want     string // part of the hint; "" for none
	}{
		{"/opt/homebrew/Caskroom/skillpm/1.2.3/skillpm", nil, true, "brew upgrade --cask skillpm"},
		{"/home/linuxbrew/.linuxbrew/Cellar/skillpm/1.2.3/bin/skillpm", nil, true, "brew upgrade"},
		{`C:\Users\me\scoop\apps\skillpm\current\skillpm.exe`, nil, true, "scoop update skillpm"},
		{`C:\Users\me\AppData\Local\Microsoft\WinGet\Packages\skillpm.skillpm_x\skillpm.exe`, nil, true, "winget upgrade"},
		{"/nix/store/abc-skillpm-1.2.3/bin/skillpm", nil, true, "nix profile upgrade"},
		{"/home/me/go/bin/skillpm", fromModule, false, "go install github.com/skillpm/skillpm/cmd/skillpm@latest"},
		{"/home/me/go/bin/skillpm", fromModule, true, ""},
		{"/home/me/go/bin/skillpm", &debug.BuildInfo{}, false, ""},
		{"/home/me/nix/store/skillpm", nil, true, ""},
		{"/home/me/scoop/skillpm", nil, true, ""},
		{"/home/me/cellar", nil, true, ""},
		{`C:\tools\skillpm.exe`, nil, true, ""},
	} {
		m, ok := DetectManager(test.path, test.info, test.released)
		if ok != (test.want != "") || !strings.Contains(m.Hint, test.want) {
			t.Errorf("%s: %v %v, want %q", test.path, m, ok, test.want)
		}
	}
}

// TestMarkers proves that the command is hidden and refuses if a package has a marker, and that each marker of a
// package is known.
func TestMarkers(t *testing.T) {
	s := newReleaseServer(t)
	s.publish(t, "1.3.0", runtime.GOOS, "new")
	for name, m := range managers() {
		if name == "go" {
			continue
		}
		for _, file := range []string{"../share/skillpm/installed-by", "installed-by"} {
			p := s.install(t, "1.2.3")
			path := filepath.Join(filepath.Dir(p.path), file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(name+"\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
			if !newCommand(&command{App: p.App, executable: p.path}).Hidden {
				t.Errorf("%s in %s: self-update is not hidden", name, file)
			}
			wantError(t, p.run(s.url), diag.Denied, "this installation is from "+m.Name, m.Hint)
			if data, err := os.ReadFile(p.path); err != nil || string(data) != "old" {
				t.Errorf("%s: the program is %q (%v)", name, data, err)
			}
		}
	}
	p := s.install(t, "1.2.3")
	if newCommand(&command{App: p.App, executable: p.path}).Hidden {
		t.Error("self-update of a plain binary is hidden")
	}
	for _, content := range []string{"\x1b[2J and more", strings.Repeat("deb ", 1000), ""} {
		path := filepath.Join(filepath.Dir(p.path), marker)
		if err := os.WriteFile(path, []byte(content), fs.FileMode(0o600)); err != nil {
			t.Fatal(err)
		}
		wantError(t, p.run(s.url), diag.Denied, "this installation is from a package manager")
	}
}
