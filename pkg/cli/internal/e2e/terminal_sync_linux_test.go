package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSyncConsent proves that "config sync" asks on a terminal before it installs what the repository has: Enter alone
// changes nothing.
func TestSyncConsent(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	w := newSetting(t)
	dir := filepath.Dir(w.project)
	repo := filepath.Join(dir, "ada.git")
	if out, err := exec.Command("git", "init", "-q", "--bare", "-b", "main", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	url := "git+file://" + filepath.ToSlash(repo)
	w.mustRun(dir, "install", "-q", "--scope", "user", "acme/deploy")
	w.mustRun(dir, "config", "sync", "-q", url, "--push")
	w.mustRun(dir, "remove", "-q", "--scope", "user", "acme/deploy")
	w.mustRun(dir, "config", "sync", "-q", url, "--push")
	// as if another machine had installed the pack again
	if out, err := exec.Command("git", "-C", repo, "update-ref", "refs/heads/main", "main~1").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	installed := filepath.Join(w.home, ".skillpm", "plugins", "acme", "deploy", "deploy", "SKILL.md")

	p := w.inTerminal(t, nil, "config", "sync")
	p.expect("+ acme/deploy 1.4.0  from embedded")
	p.expect("Accept these changes?")
	p.send("\r")
	if code, out := p.end(); code != 7 || !strings.Contains(plain(out), "no changes were made") {
		t.Errorf("without consent: exit %d: %s", code, plain(out))
	}
	if _, err := os.Stat(installed); err == nil {
		t.Error("a pack was installed without consent")
	}

	p = w.inTerminal(t, nil, "config", "sync")
	p.expect("Accept these changes?")
	p.send("\x1b[B") // down
	p.send("\r")
	if code, out := p.end(); code != 0 || !strings.Contains(plain(out), "Synced with") {
		t.Errorf("with consent: exit %d: %s", code, plain(out))
	}
	if _, err := os.Stat(installed); err != nil {
		t.Error(err)
	}
}
