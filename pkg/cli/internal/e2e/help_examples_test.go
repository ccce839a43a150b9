package e2e

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestHelpExamples runs the examples in the help of the commands that serve skills, one after the other, with the
// demonstration pack installed: no example fails, except for a script's own error.
func TestHelpExamples(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	home, project := t.TempDir(), t.TempDir()
	sh := &commandShell{dir: project, env: append(os.Environ(), "HOME="+home, "NO_COLOR=1", "PROMPT=Hello", "GIT_CONFIG_GLOBAL="+os.DevNull, enterpriseDir+"="+filepath.Join(home, "enterprise"))}
	if code, out := sh.run(t, "skillpm install -q acme/deploy && echo 'execute @deploy staging' >line.txt"); code != 0 {
		t.Fatal(out)
	}
	ran := 0
	for _, name := range []string{
		"prompt", "load", "read", "run", "find", "which", "skills", "message", "dispatch", "session", "session show", "session allow", "log", "log stats", "log verify", "log export", "profile show",
		"agents", "connect", "disconnect", "list", "tree", "why", "verify", "outdated", "config", "config set", "explain", "trust", "cache", "policy explain", "deny",
	} {
		_, help := sh.run(t, "skillpm "+name+" --help")
		_, examples, _ := strings.Cut(help, "Examples:\n")
		for line := range strings.Lines(examples) {
			line = strings.TrimSpace(line)
			if line == "" {
				break
			}
			if strings.Contains(line, " convert ") || strings.Contains(line, " ours ") || strings.Contains(line, "sudo ") ||
				strings.Contains(line, "| dot ") || strings.Contains(line, " ~/src/app") {
				continue // what it shows is not a skill, or profile, of the pack's
			}
			ran++
			code, out := sh.run(t, line)
			if code != 0 && !strings.Contains(line, "preflight.sh") && (code != 3 || !strings.Contains(line, "--check")) {
				t.Errorf("%s: exit %d\n%s", line, code, out)
			}
		}
	}
	if ran < 35 {
		t.Errorf("%d examples were run", ran)
	}
}
