package publish_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/sign"
)

// changingSigner makes another bundle of the same statement each time, as a signer with certificates does.
type changingSigner struct {
	key   *sign.PrivateKey
	count int
}

func (s *changingSigner) ID(ctx context.Context) (string, error) { return s.key.ID(ctx) }

func (s *changingSigner) Bundle(ctx context.Context, statement []byte) ([]byte, error) {
	s.count++
	b, err := s.key.Bundle(ctx, statement)
	return append(b, bytes.Repeat([]byte("\n"), s.count)...), err
}

// TestTestsOnce checks that publishing a version again adds no second result of its offline tests, whoever signs it.
func TestTestsOnce(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"skillpm.yaml": "name: acme/hello\nversion: 1.0.0\n", "SKILL.md": hello + "---\n\nSay hello.\n",
	})
	key, err := sign.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, signer := range map[string]sign.Signer{
		"nobody": nil, "a key": key, "an identity": &changingSigner{key: key},
	} {
		c := newClient(t, dir)
		o := publish.ReleaseOptions{
			To: "oci-layout:" + filepath.Join(t.TempDir(), "out"), Signer: signer,
			Test: func(_ context.Context, dirs []string) ([]publish.SkillTests, error) {
				return []publish.SkillTests{{Passed: []string{"hello/a"}}}, nil
			},
		}
		for range 3 {
			if _, err := c.Publish(t.Context(), o); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		r, err := c.Signatures(t.Context(), o.To+"//acme/hello:1.0.0", nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, s := range r.Found {
			if s.Kind == "tests" && s.Tests != nil && s.Tests.Skillpm == "0.1.0" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("signed by %s, the version has %d results of tests in %+v", name, n, r.Found)
		}
	}
}

// TestRequiredWithoutRunner checks that a pack that requires tests is not published by a program that cannot run them.
func TestRequiredWithoutRunner(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"skillpm.yaml": "name: acme/hello\nversion: 1.0.0\npublish: {require-tests: true}\n", "SKILL.md": hello + "---\n\nSay hello.\n",
	})
	_, err := newClient(t, dir).Publish(t.Context(), publish.ReleaseOptions{To: "oci-layout:out"})
	if diag.CodeOf(err) != diag.Internal {
		t.Errorf("published: %v", err)
	}
}
