package pack_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack"
)

// TestConfigNetwork reads the network settings and the trusted keys.
func TestConfigNetwork(t *testing.T) {
	text := "trusted-keys: [keys/acme.pub, /etc/keys/globex.pub]\nmirrors: {ghcr.io: registry.internal/ghcr, 'quay.io:8443/acme/tools': '[::1]:5000'}\n" +
		"plain-http: ['registry.internal:5000']\nca-file: ca.pem\n" +
		"auth-hosts: {'registry.internal:5000': [sso.acme.example, '10.0.0.2:8443']}\n"
	path := filepath.Join("home", "config.yaml")
	c, err := pack.ParseConfig(path, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	mirrors := map[string]string{"ghcr.io": "registry.internal/ghcr", "quay.io:8443/acme/tools": "[::1]:5000"}
	if !reflect.DeepEqual(c.Mirrors, mirrors) || !reflect.DeepEqual(c.PlainHTTP, []string{"registry.internal:5000"}) || c.CAFile != "ca.pem" {
		t.Errorf("%+v", c)
	}
	authHosts := map[string][]string{"registry.internal:5000": {"sso.acme.example", "10.0.0.2:8443"}}
	if !reflect.DeepEqual(c.AuthHosts, authHosts) {
		t.Errorf("auth-hosts: %v", c.AuthHosts)
	}
	if c.File(c.TrustedKeys[0]) != filepath.Join("home", "keys", "acme.pub") || filepath.IsAbs(c.TrustedKeys[1]) && c.File(c.TrustedKeys[1]) != c.TrustedKeys[1] {
		t.Errorf("%q", c.TrustedKeys)
	}
	checkSchema(t, "config", []byte(text), true)
	for _, tt := range []struct{ text, want string }{
		{"mirrors: {https://ghcr.io: x}", `invalid host "https://ghcr.io"`},
		{"mirrors: {ghcr.io: https://x}", `invalid host "https://x"`},
		{"mirrors: {ghcr.io: user@x}", `invalid host "user@x"`},
		{"mirrors: {ghcr.io: x/../y}", `invalid host and repository path "x/../y"`},
		{"mirrors: {ghcr.io: x/}", `invalid host and repository path "x/"`},
		{"mirrors: {GHCR.io: x}", `invalid host "GHCR.io"`},
		{"mirrors: [ghcr.io]", "mirrors must be a mapping"},
		{"plain-http: [x/y]", `invalid host "x/y"`},
		{"plain-http: true", "plain-http must be a list"},
		{"plain-http: ['*']", `invalid host "*"`},
		{"auth-hosts: [sso.acme.example]", "auth-hosts must be a mapping"},
		{"auth-hosts: {registry.internal: sso.acme.example}", "the token servers of registry.internal must be a list"},
		{"auth-hosts: {registry.internal: ['*']}", `invalid host "*"`},
		{"auth-hosts: {registry.internal: ['https://sso.acme.example']}", `invalid host "https://sso.acme.example"`},
		{"auth-hosts: {registry.internal/acme: [sso.acme.example]}", `invalid host "registry.internal/acme"`},
		{"ca-file: [ca.pem]", "ca-file must be text"},
		{"ca-file: ~/ca.pem", `invalid file path "~/ca.pem"`},
		{"trusted-keys: acme.pub", "trusted-keys must be a list"},
		{"trusted-keys: ['-key']", `invalid file path "-key"`},
	} {
		if _, err := pack.ParseConfig("config.yaml", []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
		}
		checkSchema(t, "config", []byte(tt.text), false)
	}
	if _, err := pack.ParseConfig("config.yaml", []byte("mirrors: {ghcr.io: ghcr.io}")); err == nil {
		t.Error("a host is its own mirror")
	}
	for _, text := range []string{
		"plain-http: [registry.internal]", "auth-hosts: {registry.internal: [evil.example]}", "ca-file: ca.pem",
	} {
		if _, err := pack.ParseManifest("skillpm.yaml", []byte(text)); err == nil {
			t.Errorf("a project sets %s", text)
		}
	}
}
