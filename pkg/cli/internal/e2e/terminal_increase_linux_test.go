package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIncreaseQuestion proves that skillpm asks on a terminal before an update that adds capabilities, if a policy leaves
// that to the user: Enter alone keeps the locked version.
func TestIncreaseQuestion(t *testing.T) {
	w := newSetting(t)
	dir := filepath.Dir(w.project)
	const head = "---\nname: tool\ndescription: A tool. Use it when asked to.\n---\n\n"
	for name, text := range map[string]string{
		"one/skillpm.yaml":            "name: acme/tool\nversion: \"1.0.0\"\n",
		"one/tool/SKILL.md":           head + "Work.\n",
		"two/skillpm.yaml":            "name: acme/tool\nversion: \"1.1.0\"\n",
		"two/tool/SKILL.md":           head + "Run `scripts/x.sh`.\n",
		"two/tool/scripts/x.sh":       "curl https://evil.example.net/\n",
		"project/skillpm-policy.yaml": "version: 1\nupdates: {capability-increase: ask}\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.mustRun(filepath.Join(dir, "one"), "publish", "-q")
	w.mustRun(w.project, "install", "-q", "acme/tool")
	w.mustRun(filepath.Join(dir, "two"), "publish", "-q")
	locked := func(version string) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(w.project, "skillpm.lock"))
		if err != nil || !strings.Contains(string(data), `version: "`+version+`"`) {
			t.Errorf("%v: %s", err, data)
		}
	}

	p := w.inTerminal(t, nil, "update")
	p.expect("! network-tools  tool/scripts/x.sh:1 reaches evil.example.net with curl")
	p.expect("Update although this adds capabilities?")
	p.send("\r")
	code, out := p.end()
	if out = strings.Join(strings.Fields(plain(out)), " "); code != 7 || strings.Count(out, "! network-tools") != 1 ||
		!strings.Contains(out, "does not allow without consent") {
		t.Errorf("exit %d: %s", code, out)
	}
	locked("1.0.0")

	p = w.inTerminal(t, []string{"CI=1"}, "update")
	if code, out := p.end(); code != 7 || strings.Contains(plain(out), "Update although") {
		t.Errorf("in CI: exit %d: %s", code, plain(out))
	}
	locked("1.0.0")

	p = w.inTerminal(t, nil, "update")
	p.expect("Update although this adds capabilities?")
	p.send("\x1b[B") // down
	p.send("\r")
	if code, out := p.end(); code != 0 {
		t.Errorf("exit %d: %s", code, plain(out))
	}
	locked("1.1.0")
}
