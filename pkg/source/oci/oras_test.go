package oci_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// TestOrasPull pulls a published pack with another tool, and compares it with the source, byte for byte and mode for
// mode (M3).
func TestOrasPull(t *testing.T) {
	program := oras(t)
	servers := map[string]func(*testing.T) *ocitest.Server{
		"olareg":          func(t *testing.T) *ocitest.Server { return ocitest.New(t) },
		"docker-registry": func(t *testing.T) *ocitest.Server { return ocitest.DockerRegistry(t, ocitest.Options{}) },
		"docker-registry-tls-htpasswd": func(t *testing.T) *ocitest.Server {
			return ocitest.DockerRegistry(t, ocitest.Options{TLS: true, User: "ada", Password: "correct horse"})
		},
	}
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
			c := s.Client(t, "")
			for version, skills := range map[string][]string{"1.0.0": {"deploy"}, "2.0.0": {"deploy", "rollback"}} {
				rel, trees := release(version, skills...)
				if _, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{}); err != nil {
					t.Fatal(err)
				}
				comparePulled(t, orasPull(t, program, s, "acme/deploy:"+version), trees)
			}
		})
	}
}

func orasPull(t *testing.T, program string, s *ocitest.Server, name string) string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"pull", s.Host + "/" + name, "--output", dir}
	if s.CertFile == "" {
		args = append(args, "--plain-http")
	} else {
		args = append(args, "--ca-file", s.CertFile)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "DOCKER_CONFIG="+s.DockerConfig(t))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("oras %q: %v\n%s", args, err, out)
	}
	return dir
}

// comparePulled checks that dir has the trees and no other files.
func comparePulled(t *testing.T, dir string, trees []bundle.Tree) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(trees) {
		t.Fatalf("pulled %v %v, want %d directories", entries, err, len(trees))
	}
	for _, tree := range trees {
		got, err := bundle.Sum(os.DirFS(dir), tree.Name)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, tree.Inventory) {
			t.Errorf("%s: oras pulled\n%swant\n%s", tree.Name, got.Encode(), tree.Inventory.Encode())
		}
		for _, e := range tree.Inventory {
			info, err := os.Stat(filepath.Join(dir, tree.Name, filepath.FromSlash(e.Path)))
			if err != nil {
				t.Fatal(err)
			}
			if exec := info.Mode().Perm()&0o111 != 0; exec != e.Executable {
				t.Errorf("%s/%s has mode %v", tree.Name, e.Path, info.Mode())
			}
		}
	}
}

// TestOrasCopy copies a pack with another tool, like a mirror would, and fetches it there by the same digest.
func TestOrasCopy(t *testing.T) {
	program := oras(t)
	from, to := ocitest.New(t), ocitest.New(t)
	pushed := push(t, from.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: from.URL("acme/deploy")}, "1.0.0", "deploy", "rollback")
	cmd := exec.Command(program, "copy", "--from-plain-http", "--to-plain-http",
		from.Host+"/acme/deploy:1.0.0", to.Host+"/mirror/acme/deploy:1.0.0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := to.Client(t, "")
	p, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: to.URL("mirror/acme/deploy"), Digest: pushed.Digest})
	if err != nil {
		t.Fatal(err)
	}
	_, trees := release("1.0.0", "deploy", "rollback")
	checkFetched(t, c, p, trees)
}

// TestOrasPush fetches another tool's artifact: a directory that oras pushed with its defaults.
func TestOrasPush(t *testing.T) {
	program := oras(t)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "greet", "scripts"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"greet/SKILL.md":      "---\nname: greet\ndescription: Greets.\n---\n\nSay hello.\n",
		"greet/scripts/hi.sh": "#!/bin/sh\necho hi\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "greet", "scripts", "hi.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	want, err := bundle.Sum(os.DirFS(dir), "greet")
	if err != nil {
		t.Fatal(err)
	}
	s := ocitest.New(t)
	cmd := exec.Command(program, "push", "--plain-http", "--artifact-type", oci.MediaTypeSkill,
		s.Host+"/tools/greet:v1.2.0", "greet:"+oci.MediaTypeContent)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := s.Client(t, "")
	p, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: s.URL("tools/greet"), Rev: "1.2.0"})
	if err != nil {
		t.Fatal(err)
	}
	if p.ID.String() != "tools/greet" || p.Version != "1.2.0" || p.Ref.Rev != "v1.2.0" || p.Skills[0].Description != "Greets." {
		t.Errorf("opened %+v", p)
	}
	if got := fetch(t, c, p)["greet"]; !bytes.Equal(got.Encode(), want.Encode()) {
		t.Errorf("got\n%swant\n%s", got.Encode(), want.Encode())
	}
}

// TestOrasDiscover checks that another tool finds a version's attachments, and that skillpm finds those of the other
// tool.
func TestOrasDiscover(t *testing.T) {
	program := oras(t)
	for name, s := range map[string]*ocitest.Server{
		"olareg": ocitest.New(t), "docker-registry": ocitest.DockerRegistry(t, ocitest.Options{}),
	} {
		t.Run(name, func(t *testing.T) {
			c, ref := s.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
			ref.Digest = push(t, c, ref, "1.0.0", "deploy").Digest
			ours := note("ours")
			ours.Subject = ref.Digest
			if _, err := c.PutArtifact(t.Context(), ref, ours); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("theirs"), 0o644); err != nil {
				t.Fatal(err)
			}
			runIn(t, dir, nil, program, "attach", "--plain-http", "--artifact-type", noteType, s.Host+"/acme/deploy@"+ref.Digest, "note.txt:text/plain")
			out := runIn(t, dir, nil, program, "discover", "--plain-http", "--format", "json", s.Host+"/acme/deploy:1.0.0")
			if n := strings.Count(out, noteType); n != 2 {
				t.Errorf("oras finds %d notes in\n%s", n, out)
			}
			list, err := s.Client(t, "").Referrers(t.Context(), ref, noteType)
			if err != nil || len(list) != 2 {
				t.Fatalf("%+v %v", list, err)
			}
			var texts []string
			for _, a := range list {
				data, err := c.ReadBlob(t.Context(), ref, a.Blobs[0], 100)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, string(data))
			}
			slices.Sort(texts)
			if !slices.Equal(texts, []string{"ours", "theirs"}) {
				t.Errorf("%q", texts)
			}
		})
	}
}
