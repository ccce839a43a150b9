package skillpm_test

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// BenchmarkNothingToDoUnderPolicy measures an installation without changes: without a policy, with one that restricts
// sources, with one that requires signatures, and with one that needs a file scan, whose result the previous
// installation stored. It uses one pack of 100 and of 1,000 skills, and 100 packs of ten.
func BenchmarkNothingToDoUnderPolicy(b *testing.B) {
	key, err := sign.Generate(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	public := key.Public().Encode()
	signed := fmt.Sprintf("require: [{match: 'oci://127.0.0.1/**', signatures: {any_of: [{key: {file: acme.pub, sha256: %x}}]}}]\n", sha256.Sum256(public))
	for _, size := range []struct{ packs, skills int }{{1, 100}, {1, 1000}, {100, 10}} {
		server, dir, home := ocitest.New(b), b.TempDir(), b.TempDir()
		var places []string
		for i := range size.packs {
			src, name := b.TempDir(), fmt.Sprintf("acme/pack-%d", i)
			writePack(b, src, name, "1.0.0", size.skills)
			if _, err := newAuthor(b, src, home).Publish(b.Context(), publish.ReleaseOptions{To: server.URL("acme"), Signer: key}); err != nil {
				b.Fatal(err)
			}
			places = append(places, server.URL(name))
		}
		if _, err := newClient(b, dir, home).Install(b.Context(), skillpm.InstallOptions{Packs: places}); err != nil {
			b.Fatal(err)
		}
		for _, p := range []struct{ name, text string }{
			{"none", ""},
			{"sources", "sources: {allow: ['oci://" + server.Host + "/**']}\n"},
			{"signatures", signed},
			{"files", "forbid: [hooks]\nlimits: {files: 2000}\nlint: {fail_on: [SEC1*]}\nskills: {deny: ['*@evil/*']}\n"},
		} {
			text := ""
			if p.text != "" {
				text = "version: 1\n" + p.text
			}
			b.Run(fmt.Sprintf("packs=%d/skills=%d/%s", size.packs, size.packs*size.skills, p.name), func(b *testing.B) {
				writeFiles(b, filepath.Join(home, "enterprise"), map[string]string{"acme.pub": string(public)})
				if text != "" {
					writeFiles(b, filepath.Join(home, "enterprise"), map[string]string{"policy.yaml": text})
				}
				nothingToDo(b, dir, home)
			})
		}
	}
}

func nothingToDo(b *testing.B, dir, home string) {
	if _, err := newClient(b, dir, home).Install(b.Context(), skillpm.InstallOptions{}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := newClient(b, dir, home).Install(b.Context(), skillpm.InstallOptions{})
		if err != nil || r.Changed {
			b.Fatalf("%v, changed %v", err, r != nil && r.Changed)
		}
	}
}
