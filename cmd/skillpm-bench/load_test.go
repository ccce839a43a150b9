package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoadOptions checks the help, and command lines that are mistakes.
func TestLoadOptions(t *testing.T) {
	var stdout bytes.Buffer
	if code := run(t.Context(), testSystem(t, &stdout, loadCommand, "--help")); code != exitOK || !strings.Contains(stdout.String(), "-connections") {
		t.Errorf("%d\n%s", code, stdout.String())
	}
	for _, args := range [][]string{{"--packs", "0"}, {"--duration", "0s"}, {"--connections", "0"}, {"--dependencies", "-1"}, {"x"}, {"--unknown"}} {
		if code := run(t.Context(), testSystem(t, &stdout, append([]string{loadCommand}, args...)...)); code != exitUsage {
			t.Errorf("%q: %d", args, code)
		}
	}
	if code := run(t.Context(), testSystem(t, &stdout, registryCommand)); code != exitUsage {
		t.Errorf("a registry without a directory: %d", code)
	}
}

// TestLocalNginx checks that the example still has everything that the benchmark replaces.
func TestLocalNginx(t *testing.T) {
	example, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(nginxExample)))
	if err != nil {
		t.Fatal(err)
	}
	text := localNginx(string(example), []string{"1001", "1002"}, "/work", "/index", "127.0.0.1:1003")
	for _, want := range []string{"listen 127.0.0.1:1001;", "listen 127.0.0.1:1002;", "root /index;", "server 127.0.0.1:1003;", "proxy_cache_path /work/cache ", "proxy_temp_path /work/proxy;"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is not there once", want)
		}
	}
	for _, left := range []string{"443", "ssl", "127.0.0.1:5000", "/var/", "/srv/", "/etc/"} {
		if strings.Contains(text, left) {
			t.Errorf("%q is left", left)
		}
	}
}
