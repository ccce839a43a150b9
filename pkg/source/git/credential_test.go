package git_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/git"
)

const (
	user     = "alice"
	password = "p@ss:w/rd s3cret"
)

// private serves a repository that requires authentication.
func private(t *testing.T, options ...gittest.Option) pack.Ref {
	t.Helper()
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(skills())
	return parse(t, "git+"+gittest.Serve(t, dir, append(options, gittest.WithAuth(user, password))...)+"/o/r.git")
}

// host returns the host of a URL with and without its port.
func host(t *testing.T, ref pack.Ref) (withPort, name string) {
	t.Helper()
	u, err := url.Parse(ref.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host, u.Hostname()
}

// variable returns the name of the token variable for an IPv4 address and port.
func variable(t *testing.T, ref pack.Ref) string {
	t.Helper()
	withPort, _ := host(t, ref)
	return "SKILLPM_TOKEN_" + strings.NewReplacer(".", "_", ":", "_").Replace(withPort)
}

// environment returns a Getenv function for variables.
func environment(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

// isolate gives git a home directory and a configuration of the test.
func isolate(t *testing.T, config string) (home string) {
	t.Helper()
	home = t.TempDir()
	file := filepath.Join(home, "gitconfig")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "xdg"))
	t.Setenv("GIT_CONFIG_GLOBAL", file)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return home
}

// TestCredentials checks M2: a private repository, with credentials from each source.
func TestCredentials(t *testing.T) {
	ref := private(t)
	withPort, name := host(t, ref)
	netrc := fmt.Sprintf("# mine\nmachine other.example login x password y\nmachine %s\n  login %s\n  password %q\ndefault login d password d\n", name, user, password)
	tests := map[string]func(t *testing.T, home string) git.Options{
		"environment": func(*testing.T, string) git.Options {
			return git.Options{Getenv: environment(map[string]string{variable(t, ref): user + ":" + password, "SKILLPM_TOKEN_127_0_0_1": "wrong"})}
		},
		"netrc": func(t *testing.T, home string) git.Options {
			if err := os.WriteFile(filepath.Join(home, ".netrc"), []byte(netrc), 0o600); err != nil {
				t.Fatal(err)
			}
			return git.Options{Home: home}
		},
		"NETRC": func(t *testing.T, home string) git.Options {
			file := filepath.Join(home, "elsewhere")
			if err := os.WriteFile(file, []byte(netrc), 0o600); err != nil {
				t.Fatal(err)
			}
			return git.Options{Getenv: environment(map[string]string{"NETRC": file})}
		},
		"helper": func(_ *testing.T, home string) git.Options {
			return git.Options{Home: home, Getenv: environment(nil)}
		},
		"the caller": func(*testing.T, string) git.Options {
			return git.Options{Credentials: func(_ context.Context, url string) (string, string, error) {
				if url != ref.URL {
					return "", "", fmt.Errorf("asked for %s", url)
				}
				return user, password, nil
			}}
		},
	}
	for from, options := range tests {
		t.Run(from, func(t *testing.T) {
			config := ""
			if from == "helper" {
				// Like every helper, this one answers only for its host.
				config = fmt.Sprintf("[credential \"http://%s\"]\n\thelper = \"!f() { test \\\"$1\\\" = get && echo 'username=%s' && echo 'password=%s'; }; f\"\n", withPort, user, password)
			}
			home := isolate(t, config)
			p, digests := fetch(t, newClient(t, options(t, home)), ref)
			if len(digests) != 2 {
				t.Errorf("fetched %v of %v", digests, p)
			}
		})
	}
}

// TestCredentialsDenied checks that wrong and missing credentials are denied with a hint, and the error does not repeat
// them.
func TestCredentialsDenied(t *testing.T) {
	ref := private(t)
	withPort, _ := host(t, ref)
	home := isolate(t, "")
	_, err := newClient(t, git.Options{Home: home}).Open(t.Context(), ref)
	checkError(t, err, diag.Denied, "no credentials for "+withPort, variable(t, ref))

	wrong := git.Options{Getenv: environment(map[string]string{variable(t, ref): "bob:hunter2"})}
	_, err = newClient(t, wrong).Open(t.Context(), ref)
	checkError(t, err, diag.Denied, "rejected the credentials from "+variable(t, ref), "current")
	for _, secret := range []string{"hunter2", base64.StdEncoding.EncodeToString([]byte("bob:hunter2"))} {
		if strings.Contains(err.Error()+diag.HintOf(err), secret) {
			t.Errorf("%q repeats the credentials", err)
		}
	}
}

// TestCredentialsOfTheDirectory checks that the configuration of the current repository does not provide credential
// helpers, because anybody may have written it.
func TestCredentialsOfTheDirectory(t *testing.T) {
	ref := private(t)
	home := isolate(t, "")
	here := gittest.New(t, t.TempDir(), "here")
	here.Run("config", "credential.helper", "!touch "+filepath.Join(home, "ran")+"; echo username=a; echo password=b; :")
	t.Chdir(here.Dir)
	t.Setenv("GIT_DIR", here.Dir)
	_, err := newClient(t, git.Options{Home: home}).Open(t.Context(), ref)
	checkError(t, err, diag.Denied, "no credentials", "")
	if _, err := os.Stat(filepath.Join(home, "ran")); err == nil {
		t.Error("the helper of the directory's repository was run")
	}
}

// recorder records the Authorization header of each request.
type recorder struct {
	mu   sync.Mutex
	seen []string
}

func (r *recorder) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.seen = append(r.seen, req.Header.Get("Authorization"))
		r.mu.Unlock()
		next.ServeHTTP(w, req)
	})
}

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

// TestCredentialsOnlyOnRequest checks that credentials are sent only after the server requires them.
func TestCredentialsOnlyOnRequest(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(skills())
	var seen recorder
	ref := parse(t, "git+"+gittest.Serve(t, dir, gittest.WithHandler(seen.handler))+"/o/r.git")
	fetch(t, newClient(t, git.Options{Getenv: environment(map[string]string{variable(t, ref): "s3cret"})}), ref)
	for _, authorization := range seen.all() {
		if authorization != "" {
			t.Errorf("a public repository was shown %q", authorization)
		}
	}
}

// TestCredentialsOfOtherHosts checks that tokens of other hosts are not sent.
func TestCredentialsOfOtherHosts(t *testing.T) {
	ref := private(t)
	home := isolate(t, "[credential \"http://127.0.0.1:1\"]\n\thelper = \"!echo password=other; echo username=x; :\"\n")
	netrc := "default login alice password " + password + "\nmachine 127.0.0.2 login a password b\n"
	if err := os.WriteFile(filepath.Join(home, ".netrc"), []byte(netrc), 0o600); err != nil {
		t.Fatal(err)
	}
	options := git.Options{Home: home, Getenv: environment(map[string]string{"GITHUB_TOKEN": password, "SKILLPM_TOKEN_LOCALHOST": password, "SKILLPM_TOKEN_127_0_0_1": password})}
	_, err := newClient(t, options).Open(t.Context(), ref)
	checkError(t, err, diag.Denied, "no credentials for 127.0.0.1:", "")
}

// TestRedirects checks that a redirect to another host is an error before any request to it; a redirect on the same
// host is followed.
func TestRedirects(t *testing.T) {
	var stolen recorder
	thief := gittest.Serve(t, t.TempDir(), gittest.WithHandler(stolen.handler))
	target := thief
	redirect := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if rest, ok := strings.CutPrefix(r.URL.Path, "/old/"); ok {
				http.Redirect(w, r, target+"/o/"+rest+"?"+r.URL.RawQuery+"&token=s3cret", http.StatusMovedPermanently)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	ref := private(t, gittest.WithHandler(redirect))
	ref.URL = strings.Replace(ref.URL, "/o/", "/old/", 1)
	options := git.Options{Getenv: environment(map[string]string{variable(t, ref): user + ":" + password})}
	_, err := newClient(t, options).Open(t.Context(), ref)
	checkError(t, err, diag.Remote, "the server redirects to another host", "git+"+thief+"/o/r.git")
	if strings.Contains(err.Error()+diag.HintOf(err), "s3cret") {
		t.Errorf("%q repeats a token", err)
	}
	if len(stolen.all()) > 0 {
		t.Errorf("the other host was asked, with %q", stolen.all())
	}

	target = ""
	if _, digests := fetch(t, newClient(t, options), ref); len(digests) != 2 {
		t.Errorf("fetched %v by way of a redirect", digests)
	}
}

// TestTLS checks M2: TLS, with a certificate that only GIT_SSL_CAINFO has.
func TestTLS(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	ref := private(t, gittest.WithTLS(ca))
	token := map[string]string{variable(t, ref): user + ":" + password}
	_, err := newClient(t, git.Options{Getenv: environment(token)}).Open(t.Context(), ref)
	checkError(t, err, diag.Remote, "certificate", "")

	token["GIT_SSL_CAINFO"] = ca
	if _, digests := fetch(t, newClient(t, git.Options{Getenv: environment(token)}), ref); len(digests) != 2 {
		t.Errorf("fetched %v", digests)
	}
	token["GIT_SSL_CAINFO"] = ca + "-missing"
	_, err = newClient(t, git.Options{Getenv: environment(token)}).Open(t.Context(), ref)
	checkError(t, err, diag.Invalid, "GIT_SSL_CAINFO", "")
}
