package skillpm

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// dockerConfig is what counts here of Docker's configuration. Secrets are read to see that they are there, and go no
// further.
type dockerConfig struct {
	Auths       map[string]dockerAuth `json:"auths"`
	CredsStore  string                `json:"credsStore"`
	CredHelpers map[string]string     `json:"credHelpers"`
}

// dockerAuth is the entry of one host.
type dockerAuth struct {
	Auth          string `json:"auth"`
	Password      string `json:"password"`
	IdentityToken string `json:"identitytoken"`
}

func (a dockerAuth) plain() bool { return a.Auth != "" || a.Password != "" || a.IdentityToken != "" }

// checkDocker looks at the credentials for OCI registries.
func checkDocker(x *examination) {
	dir := x.client.Getenv("DOCKER_CONFIG")
	if dir == "" {
		dir = filepath.Join(x.client.Paths.Home, ".docker")
	}
	file := filepath.Join(dir, "config.json")
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return
	}
	var config dockerConfig
	if err == nil {
		err = json.Unmarshal(data, &config)
	}
	if err != nil {
		x.find(Diagnosis{
			Severity: diag.SeverityError, Path: file, Message: "can't be read: " + withoutText(err),
			Means: "no OCI registry can be asked", Fix: "mend the file, or log in again with skillpm login",
		})
		return
	}
	var plain []string
	for host, auth := range config.Auths {
		if auth.plain() {
			plain = append(plain, host)
		}
	}
	slices.Sort(plain)
	if len(plain) > 0 {
		x.find(Diagnosis{
			Severity: diag.SeverityAdvice, Path: file, Message: "has credentials in plain text for " + strings.Join(plain, ", "),
			Means: "whoever reads the file can use them", Fix: "set credsStore to a credential helper and log in again with skillpm login",
		})
		if mode, ok := lstatMode(file); ok && x.client.OS != "windows" && mode&0o077 != 0 {
			x.find(Diagnosis{
				Severity: diag.SeverityWarning, Path: file, Message: fmt.Sprintf("others may read it: its mode is %04o", mode),
				Means: "others on this machine can use the credentials in it", Fix: "chmod 600 " + file,
			})
		}
	}
	helpers := map[string]bool{config.CredsStore: true}
	for _, helper := range config.CredHelpers {
		helpers[helper] = true
	}
	for _, helper := range slices.Sorted(maps.Keys(helpers)) {
		if _, err := exec.LookPath("docker-credential-" + helper); helper != "" && err != nil {
			x.find(Diagnosis{
				Severity: diag.SeverityError, Path: file, Message: "names the credential helper docker-credential-" + helper + ", which is not there",
				Means: "registries that need it can't be asked", Fix: "install it, or take it out of the file and log in again with skillpm login",
			})
		}
	}
}

// withoutText returns what is wrong with a JSON file, without any of its text.
func withoutText(err error) string {
	switch e := err.(type) { //nolint:errorlint // they come from encoding/json unwrapped
	case *json.SyntaxError:
		return fmt.Sprintf("not JSON at byte %d", e.Offset)
	case *json.UnmarshalTypeError:
		return "another type is expected of " + e.Field
	case *os.PathError:
		return e.Err.Error()
	}
	return "not what it should be"
}

// checkNetrc looks at the credentials for git servers.
func checkNetrc(x *examination) {
	file := x.client.Getenv("NETRC")
	if file == "" {
		file = filepath.Join(x.client.Paths.Home, ".netrc")
	}
	mode, ok := lstatMode(file)
	if !ok || x.client.OS == "windows" {
		return
	}
	if mode&0o077 != 0 {
		x.find(Diagnosis{
			Severity: diag.SeverityWarning, Path: file, Message: fmt.Sprintf("others may read it: its mode is %04o", mode),
			Means: "others on this machine can use the passwords in it", Fix: "chmod 600 " + file,
		})
	}
	if f, err := os.Open(file); err != nil {
		x.find(Diagnosis{
			Severity: diag.SeverityError, Path: file, Message: "can't be read", Means: "nothing can be fetched from git servers that want a password",
			Fix: "make it readable for you",
		})
	} else {
		f.Close()
	}
}

// tokenPrefix begins the variables that hold a token for one host.
const tokenPrefix = "SKILLPM_TOKEN_"

// checkTokens looks for tokens that nothing here uses.
func checkTokens(x *examination) {
	used := map[string]bool{}
	for _, place := range x.places() {
		u, err := url.Parse(place)
		if err != nil {
			continue
		}
		for _, name := range git.TokenVariables(u) {
			used[name] = true
		}
	}
	for _, name := range slices.Sorted(slices.Values(x.options.Variables)) {
		if strings.HasPrefix(name, tokenPrefix) && !used[name] {
			x.find(Diagnosis{
				Severity: diag.SeverityAdvice, Message: name + " is set, and nothing that is required here is on that host",
				Means: "a token that is not needed can only leak", Fix: "unset " + name + "; or look whether its name is that of the host",
			})
		}
	}
}

// places returns the addresses that packs and registries of both scopes and of the settings have.
func (x *examination) places() []string {
	var list []string
	add := func(place string) { list = append(list, strings.TrimPrefix(place, "git+")) }
	for _, r := range x.config.Registries {
		add(r.URL)
	}
	for _, r := range x.config.Namespaces {
		add(r)
	}
	for _, kind := range []string{scope.KindProject, scope.KindUser} {
		w, err := x.client.machine.Open(kind, false)
		if err != nil {
			continue
		}
		for _, r := range w.Manifest.Registries {
			add(r.URL)
		}
		for _, r := range w.Manifest.Namespaces {
			add(r)
		}
		for _, d := range slices.Concat(w.Manifest.Dependencies, w.Manifest.DevDependencies) {
			if d.Ref != nil {
				add(d.Ref.URL)
			}
		}
		for _, p := range w.Lock.Packs {
			add(p.Source)
		}
	}
	return list
}
