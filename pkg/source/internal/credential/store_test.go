package credential_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source/internal/credential"
)

const password = "correct horse battery"

func open(dir string) *credential.Store {
	return credential.Open(credential.Options{Getenv: func(key string) string {
		if key == "DOCKER_CONFIG" {
			return dir
		}
		return ""
	}})
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// TestPutGetDelete checks that a login is for its host alone, that only its owner can read the file, and that the rest
// of the file stays.
func TestPutGetDelete(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	s := open(dir)
	if l, err := s.Get(t.Context(), "registry.example"); err != nil || !l.IsZero() {
		t.Fatalf("before: %+v %v", l, err)
	}
	if err := s.Delete(t.Context(), "registry.example"); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("deleting nothing: %v", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "config.json")
	write(t, file, `{"proxies": {"default": {}}, "auths": {"other.example": {"auth": "YTpi"}}}`, 0o644)
	s = open(dir)
	if err := s.Put(t.Context(), "registry.example:5000", "ada", password); err != nil {
		t.Fatal(err)
	}
	for _, from := range []*credential.Store{s, open(dir)} {
		for host, want := range map[string]credential.Login{
			"registry.example:5000": {User: "ada", Secret: password}, "other.example": {User: "a", Secret: "b"},
			"registry.example": {}, "registry.example:5001": {}, "example": {},
		} {
			if got, err := from.Get(t.Context(), host); err != nil || got != want {
				t.Errorf("%s: %+v %v", host, got, err)
			}
		}
	}
	if hosts, err := s.Hosts(t.Context()); err != nil || !slices.Equal(hosts, []string{"other.example", "registry.example:5000"}) {
		t.Errorf("hosts %q %v", hosts, err)
	}
	info, err := os.Stat(file)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := s.Delete(t.Context(), "registry.example:5000"); err != nil {
		t.Fatal(err)
	}
	if l, err := s.Get(t.Context(), "registry.example:5000"); err != nil || !l.IsZero() {
		t.Errorf("after: %+v %v", l, err)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "proxies") {
		t.Errorf("%s %v", text, err)
	}
}

// TestDockerHub checks that all names of Docker Hub count as one, like in Docker.
func TestDockerHub(t *testing.T) {
	s := open(t.TempDir())
	if err := s.Put(t.Context(), "docker.io", "ada", password); err != nil {
		t.Fatal(err)
	}
	if l, err := s.Get(t.Context(), "registry-1.docker.io"); err != nil || l.Secret != password {
		t.Errorf("%+v %v", l, err)
	}
	if hosts, err := s.Hosts(t.Context()); err != nil || !slices.Equal(hosts, []string{"docker.io"}) {
		t.Errorf("hosts %q %v", hosts, err)
	}
}

// TestToken checks that a token that is exchanged for others is stored as one.
func TestToken(t *testing.T) {
	dir := t.TempDir()
	if err := open(dir).Put(t.Context(), "registry.example", credential.TokenUser, password); err != nil {
		t.Fatal(err)
	}
	if l, err := open(dir).Get(t.Context(), "registry.example"); err != nil || l != (credential.Login{Identity: password}) {
		t.Errorf("%+v %v", l, err)
	}
}

// TestLinkedFile checks that a configuration behind a link stays there.
func TestLinkedFile(t *testing.T) {
	elsewhere, dir := filepath.Join(t.TempDir(), "kept.json"), t.TempDir()
	write(t, elsewhere, "{}", 0o600)
	if err := os.Symlink(elsewhere, filepath.Join(dir, "config.json")); err != nil {
		t.Skip(err)
	}
	if err := open(dir).Put(t.Context(), "registry.example", "ada", password); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(dir, "config.json")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v", err)
	}
	if text, err := os.ReadFile(elsewhere); err != nil || !strings.Contains(string(text), "registry.example") {
		t.Errorf("%s %v", text, err)
	}
}

// TestBadLogins tries logins that cannot be stored or read. No error repeats a secret.
func TestBadLogins(t *testing.T) {
	for name, f := range map[string]func(dir string) error{
		"a path":      func(dir string) error { return open(dir).Put(t.Context(), "registry.example/acme", "ada", password) },
		"no host":     func(dir string) error { return open(dir).Put(t.Context(), "", "ada", password) },
		"a colon":     func(dir string) error { return open(dir).Put(t.Context(), "registry.example", "a:b", password) },
		"no password": func(dir string) error { return open(dir).Put(t.Context(), "registry.example", "ada", "") },
		"no place": func(string) error {
			return credential.Open(credential.Options{}).Put(t.Context(), "h", "ada", password)
		},
		"not JSON": func(dir string) error {
			write(t, filepath.Join(dir, "config.json"), "{"+password, 0o600)
			_, err := open(dir).Get(t.Context(), "registry.example")
			return err
		},
		"no colon in a login": func(dir string) error { // base64 of the password alone
			write(t, filepath.Join(dir, "config.json"), `{"auths": {"registry.example": {"auth": "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5"}}}`, 0o600)
			_, err := open(dir).Get(t.Context(), "registry.example")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := f(t.TempDir())
			if err == nil || strings.Contains(err.Error()+diag.HintOf(err), password) {
				t.Errorf("%v", err)
			}
		})
	}
}

// helper writes a credential helper into its own directory, at the front of PATH.
func helper(t *testing.T, name, script string) (kept string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the helper is a shell script")
	}
	bin := t.TempDir()
	kept = filepath.Join(bin, "kept")
	write(t, filepath.Join(bin, "docker-credential-"+name), "#!/bin/sh\nkept="+kept+"\n"+script, 0o755)
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return kept
}

const working = `
case "$1" in
store) cat > "$kept" ;;
get) read host; test "$host" = registry.example && test -f "$kept" && cat "$kept" || { echo "credentials not found in native keychain"; exit 1; } ;;
erase) rm "$kept" ;;
list) test -f "$kept" && echo '{"registry.example":"ada"}' || echo '{}' ;;
esac
`

// TestHelper checks that a configured helper stores the login, and the file does not.
func TestHelper(t *testing.T) {
	for field, config := range map[string]string{
		"credsStore": `{"credsStore": "test"}`, "credHelpers": `{"credHelpers": {"registry.example": "test"}}`,
	} {
		t.Run(field, func(t *testing.T) {
			helper(t, "test", working)
			dir := t.TempDir()
			file := filepath.Join(dir, "config.json")
			write(t, file, config, 0o600)
			s := open(dir)
			if err := s.Put(t.Context(), "registry.example", "ada", password); err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "auth") {
				t.Errorf("the file has it: %s %v", text, err)
			}
			if l, err := s.Get(t.Context(), "registry.example"); err != nil || l.User != "ada" || l.Secret != password {
				t.Errorf("%+v %v", l, err)
			}
			if hosts, err := s.Hosts(t.Context()); err != nil || !slices.Equal(hosts, []string{"registry.example"}) {
				t.Errorf("hosts %q %v", hosts, err)
			}
			if err := s.Delete(t.Context(), "registry.example"); err != nil {
				t.Fatal(err)
			}
			if l, err := s.Get(t.Context(), "registry.example"); err != nil || !l.IsZero() {
				t.Errorf("after: %+v %v", l, err)
			}
		})
	}
}

// TestHelperFails checks that the output of a failed helper is neither in the error nor on the terminal, because it may
// have a secret or control sequences.
func TestHelperFails(t *testing.T) {
	helper(t, "broken", "cat; echo "+password+"; printf '\\033[2J"+password+"' >&2; exit 1\n")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config.json"), `{"credsStore": "broken"}`, 0o600)
	terminal, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stderr
	os.Stderr = terminal
	defer func() { os.Stderr = was }()
	s := open(dir)
	_, got := s.Get(t.Context(), "registry.example")
	_, listed := s.Hosts(t.Context())
	for _, err := range []error{got, listed, s.Put(t.Context(), "registry.example", "ada", password), s.Delete(t.Context(), "registry.example")} {
		text := fmt.Sprint(err) + diag.HintOf(err)
		if diag.CodeOf(err) != diag.Denied || !strings.Contains(text, "docker-credential-broken") || strings.Contains(text, password) {
			t.Errorf("%v", err)
		}
	}
	if said, err := os.ReadFile(terminal.Name()); err != nil || len(said) > 0 {
		t.Errorf("on the terminal: %q %v", said, err)
	}
}

// TestHelperMissing checks that the error names a helper that is not installed.
func TestHelperMissing(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config.json"), `{"credsStore": "not-there"}`, 0o600)
	if _, err := open(dir).Get(t.Context(), "registry.example"); diag.CodeOf(err) != diag.Denied || !strings.Contains(diag.HintOf(err), "install docker-credential-not-there") {
		t.Errorf("%v", err)
	}
}

// TestHost checks that the common spellings of a registry are normalized for lookups.
func TestHost(t *testing.T) {
	for at, want := range map[string]string{
		"localhost:5077": "localhost:5077", "LOCALHOST:5077": "localhost:5077", "https://Registry.Example/": "registry.example", "oci://h:5000//": "h:5000",
		"HTTP://h": "h", " h\n": "h", "docker.io": "docker.io", "https://index.docker.io/v1/": "docker.io", "Registry-1.Docker.io": "docker.io",
		"https://h/acme": "h/acme", "ftp://h": "ftp:/" + "/h", "": "",
	} {
		if got := credential.Host(at); got != want {
			t.Errorf("%q: %q, want %q", at, got, want)
		}
	}
	dir := t.TempDir()
	if err := open(dir).Put(t.Context(), credential.Host("https://LOCALHOST:5077/"), "ada", password); err != nil {
		t.Fatal(err)
	}
	if l, err := open(dir).Get(t.Context(), "localhost:5077"); err != nil || l.User != "ada" {
		t.Errorf("%+v %v", l, err)
	}
	if err := open(dir).Delete(t.Context(), "LocalHost:5077"); err != nil {
		t.Error(err)
	}
}
