//go:build slow

package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// withoutNetwork is the machine whose program runs in an empty network namespace, without loopback.
func (m *machine) withoutNetwork() *machine {
	m.tb.Helper()
	below := []string{"unshare", "-Urn"}
	if out, err := exec.Command(below[0], append(below[1:], "true")...).CombinedOutput(); err != nil {
		skipUnsupported(m.tb, "no network namespaces here: %v: %s", err, out)
	}
	cut := *m
	cut.below = below
	return &cut
}

// TestFaultNoNetwork removes the network: stored and vendored packs install, commands that need no server succeed, and
// all others fail with an error that names the server, without changes.
func TestFaultNoNetwork(t *testing.T) { // M2
	t.Parallel()
	w := newServers(t)
	m := newMachine(t, w)
	m.firstVersions()
	m.ok(w.update()...)
	done := m.tree()
	clone := func(t *testing.T, of *machine, name string, files ...string) *machine {
		n := newMachineIn(t, w, filepath.Dir(of.home))
		n.project = filepath.Join(of.home, name)
		for _, file := range files {
			_, text, _ := strings.Cut(done[file], " ")
			n.write(filepath.Join(n.project, file), text)
		}
		return n.withoutNetwork()
	}
	t.Run("from the store", func(t *testing.T) {
		for _, args := range [][]string{{"install", "--frozen", "--offline"}, {"install", "--frozen"}, {"install", "--offline"}, {"install"}} {
			n := clone(t, m, strings.Join(args, ""), "skillpm.yaml", "skillpm.lock")
			n.ok(args...)
			same(t, strings.Join(args, " "), n.tree(), done)
		}
	})
	t.Run("what asks no server", func(t *testing.T) {
		n := clone(t, m, "whole", "skillpm.yaml", "skillpm.lock")
		n.ok("install")
		for _, args := range []string{"verify", "list", "info acme/web", "install skillpm/authoring", "remove skillpm/authoring", "cache verify"} {
			n.ok(strings.Fields(args)...)
		}
		n.ok("verify")
	})
	t.Run("what asks one", func(t *testing.T) {
		empty := newMachine(t, w)
		for _, tt := range []struct {
			args  string
			words []string
		}{
			{"install --frozen --offline", []string{
				"is not in the store, and skillpm is offline", "hint: run the command once without --offline",
			}},
			{"install --frozen", []string{"127.0.0.1"}},
			{"install", []string{"127.0.0.1"}},
		} {
			n := clone(t, empty, tt.args, "skillpm.yaml", "skillpm.lock")
			before := n.tree()
			n.fails(8, tt.words, strings.Fields(tt.args)...)
			same(t, tt.args, n.tree(), before)
		}
		n := clone(t, m, "more", "skillpm.yaml", "skillpm.lock")
		n.ok("install")
		n.fails(8, []string{w.registry.Host}, "install", "oci://"+w.registry.Host+"/acme/other:1.0.0")
		n.fails(8, []string{"--offline"}, "install", "--offline", "oci://"+w.registry.Host+"/acme/other:1.0.0")
		same(t, "refused", n.tree(), done)
	})
	t.Run("vendored", func(t *testing.T) {
		m.ok("vendor")
		vendored := treeOf(t, filepath.Join(m.project, "vendor"))
		n := newMachine(t, w)
		for name, text := range vendored {
			if mode, text, ok := strings.Cut(text, " "); ok {
				if strings.Contains(mode, "x") {
					name += "*"
				}
				n.write(filepath.Join(n.project, "vendor", name), text)
			}
		}
		for _, file := range []string{"skillpm.yaml", "skillpm.lock"} {
			_, text, _ := strings.Cut(done[file], " ")
			n.write(filepath.Join(n.project, file), text)
		}
		n.withoutNetwork().ok("install", "--frozen", "--offline")
		got := treeOf(t, n.project, ".skillpm", ".skillpm/state", ".skillpm/lock")
		for name := range got {
			if name == "vendor" || strings.HasPrefix(name, "vendor/") {
				delete(got, name)
			}
		}
		same(t, "vendored", got, done)
	})
}
