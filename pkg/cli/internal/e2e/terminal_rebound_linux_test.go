package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReboundOwner proves that skillpm asks on a terminal before it uses the registry to which a project binds an owner
// that the user binds elsewhere: Enter alone keeps the user's binding, and the answer is remembered for the project.
func TestReboundOwner(t *testing.T) {
	w := newSetting(t)
	dir := filepath.Dir(w.project)
	for name, text := range map[string]string{
		"pack/skillpm.yaml":    "name: acme/tool\nversion: \"1.0.0\"\n",
		"pack/tool/SKILL.md":   "---\nname: tool\ndescription: A tool. Use it when asked to.\n---\n\nWork.\n",
		"project/skillpm.yaml": "namespaces:\n  acme: \"oci-layout:../theirs\"\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, to := range []string{"mine", "theirs"} {
		w.mustRun(filepath.Join(dir, "pack"), "publish", "-q", "--to", "oci-layout:../"+to)
	}
	w.mustRun(dir, "registry", "bind", "acme", "oci-layout:./mine")
	lock := filepath.Join(w.project, "skillpm.lock")

	p := w.inTerminal(t, nil, "install", "acme/tool")
	p.expect("Which registry has the packs of acme in this project?")
	p.expect("oci-layout:../theirs")
	p.send("\r")
	if code, out := p.end(); code != 7 || !strings.Contains(plain(out), "skillpm registry bind acme oci-layout:../theirs --accept") {
		t.Errorf("the user's binding stays: exit %d: %s", code, plain(out))
	}
	if _, err := os.Stat(lock); err == nil {
		t.Error("a pack was installed without consent")
	}

	p = w.inTerminal(t, nil, "install", "acme/tool")
	p.expect("Which registry has the packs of acme in this project?")
	p.send("\x1b[B") // down
	p.send("\r")
	if code, out := p.end(); code != 0 {
		t.Fatalf("the project's binding is accepted: exit %d: %s", code, plain(out))
	}
	data, err := os.ReadFile(lock)
	if err != nil || !strings.Contains(string(data), "oci-layout:../theirs") {
		t.Errorf("%v: %s", err, data)
	}

	p = w.inTerminal(t, nil, "update", "acme/tool")
	if code, out := p.end(); code != 0 || strings.Contains(plain(out), "Which registry") {
		t.Errorf("the answer was not remembered: exit %d: %s", code, plain(out))
	}
}
