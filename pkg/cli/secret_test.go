package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// parrot is a server that repeats the credentials that it was ever sent, in one part of its answers.
type parrot struct {
	*httptest.Server
	part  string
	token string // what its token server gives out; "" for basic authentication

	mu    sync.Mutex
	heard []string
}

func (p *parrot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if user, pass, ok := r.BasicAuth(); ok {
		p.heard = append(p.heard, user+":"+pass, pass, strings.TrimPrefix(r.Header.Get("Authorization"), "Basic "))
	} else if auth := r.Header.Get("Authorization"); auth != "" {
		p.heard = append(p.heard, strings.TrimPrefix(auth, "Bearer "))
	}
	said := strings.Join(p.heard, " ")
	if r.URL.Path == "/token" {
		_ = json.NewEncoder(w).Encode(map[string]string{"token": p.token})
		return
	}
	if r.Header.Get("Authorization") == "" {
		challenge := `Basic realm="x"`
		if p.token != "" {
			challenge = `Bearer realm="` + p.URL + `/token",service="x"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	document := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	switch p.part {
	case "error":
		w.WriteHeader(http.StatusForbidden)
		document(map[string]any{"errors": []any{map[string]any{"code": "DENIED", "message": said, "detail": said}}})
	case "body":
		http.Error(w, said, http.StatusForbidden)
	case "challenge":
		w.Header().Set("WWW-Authenticate", `Bearer realm="https://`+url.PathEscape(said)+`.example/`+url.PathEscape(said)+`",error="`+said+`"`)
		http.Error(w, "", http.StatusUnauthorized)
	case "header":
		w.Header().Set("Content-Type", said)
		w.Header().Set("Docker-Content-Digest", said)
		w.Header().Set("Warning", `299 - "`+said+`"`)
		fmt.Fprint(w, "{}")
	case "status":
		connection, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			fmt.Fprintf(connection, "HTTP/1.1 403 %s\r\nContent-Length: 0\r\n\r\n", said)
			_ = connection.Close()
		}
	case "malformed":
		connection, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			fmt.Fprintf(connection, "%s\r\n\r\n", said)
			_ = connection.Close()
		}
	case "redirect":
		http.Redirect(w, r, "http://"+r.Host+"/elsewhere/"+url.PathEscape(said)+"?x="+url.QueryEscape(said)+r.URL.RawQuery, http.StatusFound)
	case "redirect to another host":
		http.Redirect(w, r, "https://"+url.PathEscape(p.heard[len(p.heard)-1])+".invalid/"+url.PathEscape(said), http.StatusFound)
	case "tags":
		if strings.HasSuffix(r.URL.Path, "/tags/list") {
			document(map[string]any{"name": said, "tags": append(p.heard, "1.0.0-"+strings.Trim(p.heard[len(p.heard)-1], "="))})
			return
		}
		document(map[string]any{
			"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "artifactType": said,
			"config":      map[string]any{"mediaType": said, "digest": said, "size": 2},
			"layers":      []any{map[string]any{"mediaType": said, "digest": said, "size": 2, "annotations": map[string]string{"org.opencontainers.image.title": said}}},
			"annotations": map[string]string{"org.opencontainers.image.description": said, "dev.skillpm.pack": said},
		})
	case "git error":
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		line := func(s string) string { return fmt.Sprintf("%04x%s", len(s)+4, s) }
		fmt.Fprint(w, line("# service=git-upload-pack\n")+"0000"+line("ERR "+said+"\n"))
	case "git refs":
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		line := func(s string) string { return fmt.Sprintf("%04x%s", len(s)+4, s) }
		refs := "# service=git-upload-pack\n"
		fmt.Fprint(w, line(refs)+"0000"+line(strings.Repeat("a1", 20)+" HEAD\x00symref=HEAD:refs/heads/"+strings.ReplaceAll(said, " ", "-")+"\n")+
			line(strings.Repeat("a1", 20)+" refs/tags/v1.0.0-"+strings.ReplaceAll(said, " ", "-")+"\n")+"0000")
	case "index":
		document(map[string]any{"name": "acme/" + said, "version": said, "source": said, "packs": []string{said}, "config": said, said: said})
	}
}

// TestSecretsAreNotRepeated checks that no output and no record has a credential that a server repeats (O10): for each
// way in which the process finds one, each part of an answer, and each command that connects to a server.
func TestSecretsAreNotRepeated(t *testing.T) {
	parts := []string{
		"error", "body", "challenge", "header", "status", "malformed", "redirect", "redirect to another host", "tags", "git error",
		"git refs", "index",
	}
	commands := [][]string{
		{"install", "oci://HOST/acme/tools"},
		{"install", "oci://HOST/acme/tools", "--json"},
		{"info", "oci://HOST/acme/tools", "-vv"},
		{"install", "git+http://HOST/acme/tools.git", "-vv"},
		{"info", "git+http://HOST/acme/tools.git", "--json"},
		{"search", "tools", "--refresh"},
		{"info", "acme/tools", "--json"},
		{"install", "acme/tools"},
		{"registry", "ls"},
		{"registry", "ls", "--json"},
		{"config", "get", "registries"},
		{"login", "HOST", "-u", "ada", "--password-stdin"},
		{"index", "check", "http://HOST/index"},
		{"verify", "oci://HOST/acme/tools"},
		{"outdated", "-vv"},
	}
	const value = "hunter2/S3cret+Value"
	ways := map[string]func(t *testing.T, home, host string, vars map[string]string){
		"stored login": func(t *testing.T, home, host string, _ map[string]string) {
			write(t, filepath.Join(home, ".docker", "config.json"), `{"auths":{"`+host+`":{"auth":"`+base64.StdEncoding.EncodeToString([]byte("ada:"+value))+`"}}}`)
		},
		"helper": func(t *testing.T, home, host string, vars map[string]string) {
			write(t, filepath.Join(home, ".docker", "config.json"), `{"credHelpers":{"`+host+`":"parrot"}}`)
			file := filepath.Join(home, "bin", "docker-credential-parrot")
			write(t, file, "#!/bin/sh\necho '{\"Username\":\"ada\",\"Secret\":\""+value+"\"}'\n")
			check(t, os.Chmod(file, 0o755))
			vars["PATH"] = filepath.Join(home, "bin") + ":" + os.Getenv("PATH")
			t.Setenv("PATH", vars["PATH"])
		},
		"netrc": func(t *testing.T, home, host string, _ map[string]string) {
			name, _, _ := strings.Cut(host, ":")
			write(t, filepath.Join(home, ".netrc"), "machine "+name+" login ada password "+value+"\n")
		},
		"git helper": func(t *testing.T, home, _ string, vars map[string]string) {
			write(t, filepath.Join(home, "gitconfig"), "[credential]\n\thelper = \"!f() { echo username=ada; echo 'password="+value+"'; }; f\"\n")
			vars["GIT_CONFIG_GLOBAL"] = filepath.Join(home, "gitconfig")
		},
		"variable": func(_ *testing.T, _, host string, vars map[string]string) {
			_, port, _ := strings.Cut(host, ":")
			vars["SKILLPM_TOKEN_127_0_0_1_"+port] = "ada:" + value
		},
		"token server": func(t *testing.T, home, host string, _ map[string]string) {
			write(t, filepath.Join(home, ".docker", "config.json"), `{"auths":{"`+host+`":{"auth":"`+base64.StdEncoding.EncodeToString([]byte("ada:"+value))+`"}}}`)
		},
		"address": func(*testing.T, string, string, map[string]string) {},
	}
	spellings := []string{
		value, url.QueryEscape(value), url.PathEscape(value), "S3cret", base64.StdEncoding.EncodeToString([]byte("ada:" + value)),
		base64.StdEncoding.EncodeToString([]byte(value)),
	}
	tried, heard, masked := 0, 0, 0
	for way, prepare := range ways {
		for _, part := range parts {
			t.Run(way+", "+part, func(t *testing.T) {
				p := &parrot{part: part}
				p.Server = httptest.NewServer(p)
				defer p.Close()
				if way == "token server" {
					p.token = value
				}
				home, vars := t.TempDir(), map[string]string{"PATH": os.Getenv("PATH")}
				host := strings.TrimPrefix(p.URL, "http://")
				vars["HOME"] = home
				prepare(t, home, host, vars)
				config := filepath.Join(home, "config.yaml")
				write(t, config, "registries:\n  team: http://"+host+"/index\n  other: oci://"+host+"/packs\n")
				for _, words := range commands {
					var args []string
					for _, word := range words {
						if way == "address" {
							word = strings.ReplaceAll(word, "http://HOST", "http://ada:"+url.QueryEscape(value)+"@HOST")
							word = strings.ReplaceAll(word, "oci://HOST", "oci://ada:"+url.QueryEscape(value)+"@HOST")
						}
						args = append(args, strings.ReplaceAll(word, "HOST", host))
					}
					var out, errs bytes.Buffer
					stdin := "" // of login
					if words[0] == "login" {
						stdin = value
					}
					Run(environ.Environment{
						Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Getenv: func(name string) string { return vars[name] },
						Environ: func() (all []string) {
							for name, value := range vars {
								all = append(all, name+"="+value)
							}
							return all
						},
						Dir: home, Paths: scope.Paths{Home: home}, Config: config, Now: time.Now, OS: runtime.GOOS,
					}, args)
					tried++
					shown := map[string]string{"standard output": out.String(), "standard error": errs.String()}
					_ = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
						if data, read := os.ReadFile(path); err == nil && read == nil && strings.Contains(path, "state") {
							shown[path] = string(data)
						}
						return nil
					})
					masked += strings.Count(out.String()+errs.String(), "***")
					for where, text := range shown {
						for _, s := range spellings {
							if strings.Contains(text, s) {
								t.Errorf("%q: %s has %q:\n%s", args, where, s, text)
								break
							}
						}
					}
				}
				heard += len(p.heard)
			})
		}
	}
	if tried < 1200 || heard < 400 || masked < 30 {
		t.Errorf("only %d commands, %d credentials that servers got, and %d that they repeated", tried, heard, masked)
	}
}

// TestPasswordsInFiles checks that messages about an invalid address in a file leave out its password.
func TestPasswordsInFiles(t *testing.T) {
	const value = "S3cretValue"
	for _, tt := range []struct{ file, text string }{
		{"config.yaml", "registries: [{name: e, url: 'http://ada:" + value + "@r.example/x'}]"},
		{"config.yaml", "plain-http: ['https://ada:" + value + "@r.example']"},
		{"config.yaml", "mirrors: {'https://ada:" + value + "@r.example/x': r.example}"},
		{"skillpm.yaml", "dependencies: {a/b: {git: 'https://ada:" + value + "@r.example/x#v1'}}"},
		{"skillpm.yaml", "dependencies: {a/b: {git: 'https://ada:" + value + "@r.example/x//y'}}"},
		{"skillpm.yaml", "dependencies: {a/b: {oci: 'oci://ada:" + value + "@r.example/x:1'}}"},
		{"skillpm.yaml", "dependencies: {a/b: {oci: 'https://" + value + "@r.example/x'}}"},
		{"skillpm.yaml", "dependencies: {a/b: 'https://ada:" + value + "@r.example/x'}"},
	} {
		home := t.TempDir()
		project := filepath.Join(home, "project")
		write(t, filepath.Join(project, "config.yaml"), "")
		write(t, filepath.Join(project, "skillpm.yaml"), "dependencies: {a/b: '*'}")
		write(t, filepath.Join(project, tt.file), tt.text)
		for _, args := range [][]string{{"install", "a/b"}, {"install", "a/b", "--json"}, {"update"}} {
			var out bytes.Buffer
			Run(environ.Environment{
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" },
				Environ: func() []string { return nil }, Dir: project, Paths: scope.Paths{Home: home},
				Now: time.Now, OS: runtime.GOOS,
			}, append(args, "--config", filepath.Join(project, "config.yaml")))
			if strings.Contains(out.String(), value) || !strings.Contains(out.String(), "@r.example") {
				t.Errorf("%s with %s: %q", tt.text, args, out.String())
			}
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, []byte(text), 0o644))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
