package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/olareg/olareg"        //nolint:depguard // a registry for measurements; not released
	"github.com/olareg/olareg/config" //nolint:depguard // likewise
)

// serve answers HTTP on a free loopback port until the returned function is called, and returns the port's address.
func serve(handler http.Handler) (host string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(listener) }() // until it is closed
	return listener.Addr().String(), func() { _ = server.Close() }, nil
}

// serveRegistry starts an OCI registry in this process that keeps its blobs in dir.
func serveRegistry(dir string) (host string, stop func(), err error) {
	registry := olareg.New(config.Config{Storage: config.ConfigStorage{
		StoreType: config.StoreDir, RootDir: dir, GC: config.ConfigGC{Frequency: -1},
	}})
	host, stopServer, err := serve(registry)
	if err != nil {
		return "", nil, err
	}
	return host, func() { stopServer(); _ = registry.Close() }, nil
}

var listening = regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)

// serveProgram starts a registry that is the distribution project's program, as docker-registry of Debian is.
func serveProgram(program, dir string) (host string, stop func(), err error) {
	file, err := registryConfig(dir)
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(context.Background(), program, "serve", file)
	cmd.Env = []string{"OTEL_TRACES_EXPORTER=none"}
	return startListening(cmd)
}

// registryConfig writes the configuration of the distribution project's registry, with its data in dir.
func registryConfig(dir string) (file string, err error) {
	text := fmt.Sprintf("version: 0.1\nlog: {level: info, accesslog: {disabled: true}}\n"+
		"storage:\n  filesystem: {rootdirectory: %q}\nhttp: {addr: \"127.0.0.1:0\"}\n", filepath.Join(dir, "data"))
	file = filepath.Join(dir, "config.yml")
	return file, errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(file, []byte(text), 0o644))
}

// serveGit serves the bare repositories in dir with git's own server, over HTTP.
func serveGit(git, dir string, env []string) (host string, stop func(), err error) {
	return serve(&cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Dir: dir, Stderr: io.Discard,
		Env: append(env, "GIT_PROJECT_ROOT="+dir, "GIT_HTTP_EXPORT_ALL=1",
			"GIT_CONFIG_COUNT=2",
			"GIT_CONFIG_KEY_0=uploadpack.allowAnySHA1InWant", "GIT_CONFIG_VALUE_0=true", // as the large forges do
			"GIT_CONFIG_KEY_1=uploadpack.allowFilter", "GIT_CONFIG_VALUE_1=true"),
	})
}

// makeRepository makes a bare repository, packed as on a server, with one commit of the files in tree and a tag of its
// version.
func (b *bench) makeRepository(ctx context.Context, p benchPack) error {
	bareDir := filepath.Join(b.dir, "git", owner, p.Name+".git")
	if err := os.MkdirAll(bareDir, 0o755); err != nil {
		return err
	}
	if _, err := output(ctx, bareDir, b.environ("server"), b.tools.git.path, "init", "--quiet", "--bare",
		"--initial-branch=main"); err != nil {
		return err
	}
	env := append(b.environ("server"), "GIT_DIR="+bareDir, "GIT_WORK_TREE="+p.Dir,
		"GIT_AUTHOR_NAME=Bench", "GIT_AUTHOR_EMAIL=bench@registry.example", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=Bench", "GIT_COMMITTER_EMAIL=bench@registry.example", "GIT_COMMITTER_DATE=1700000000 +0000")
	for _, line := range []string{
		"-c core.bigFileThreshold=16m add --all --force .", "commit --quiet -m pack", "tag v" + version,
		"-c core.bigFileThreshold=16m repack -a -d -q", "prune-packed -q",
	} {
		if _, err := output(ctx, p.Dir, env, b.tools.git.path, strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}
