package connect

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// probeLimit is the maximum time of one run of an agent.
const probeLimit = 5 * time.Second

// probe asks an agent itself whether it accepts its configuration, and returns what it reports about the file. It runs
// the agent only if the agent is on PATH, and if its command is known to start nothing from the file and to need no
// network. A failed run reports nothing: only the agent's own words count.
func (e Env) probe(p plan) []Obstacle {
	if p.kind != Hook || p.agent.ID != "claude-code" {
		return nil
	}
	program := e.lookUp("claude")
	// Older versions wait for a terminal.
	if program == "" || !atLeast(e.ask(program, "--version"), 2, 1, 330) {
		return nil
	}
	files := []string{e.file(p.target)}
	if real, err := pathx.Resolve(files[0]); err == nil {
		files = append(files, real)
	}
	return reported(p.agent.Title, e.ask(program, "doctor"), files)
}

// reported returns the problems of files in the output of "claude doctor", which are lines such as
// "- FILE › hooks.Stop.0: …".
func reported(title, output string, files []string) (notes []Obstacle) {
	for line := range strings.Lines(output) {
		for _, file := range slices.Compact(files) {
			rest, ok := strings.CutPrefix(strings.TrimSpace(line), "- "+file)
			if !ok || !strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, " ›") {
				continue
			}
			detail := strings.TrimSpace(strings.TrimLeft(rest, ": ›"))
			notes = append(notes, Obstacle{fmt.Sprintf("%s reports an error in %s: %s", title, file, detail), "correct the file"})
		}
	}
	return notes
}

// ask runs an agent without network access, and returns its standard output.
func (e Env) ask(program string, args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = cmp.Or(e.Project, e.Home)
	cmd.WaitDelay = time.Second
	const nowhere = "http://127.0.0.1:9" // the discard port
	cmd.Env = []string{
		"HOME=" + e.Home, "USERPROFILE=" + e.Home, "HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "TERM=dumb",
		"NO_COLOR=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
	}
	for _, name := range []string{"PATH", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA", "SystemRoot", "TMPDIR"} {
		if value := e.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	out, err := cmd.Output()
	if err != nil && ctx.Err() != nil {
		return ""
	}
	return string(out)
}

// lookUp returns the path of a program, "" if PATH does not have it. A relative directory of PATH does not count.
func (e Env) lookUp(name string) string {
	if runtime.GOOS != e.OS {
		return ""
	}
	if e.OS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err == nil && filepath.IsAbs(dir) && info.Mode().IsRegular() && (e.OS == "windows" || info.Mode()&0o111 != 0) {
			return file
		}
	}
	return ""
}

// atLeast reports whether an output begins with a version that is not older.
func atLeast(output string, want ...int) bool {
	version, _, _ := strings.Cut(strings.TrimSpace(output), " ")
	parts := strings.Split(version, ".")
	for i, n := range want {
		if i >= len(parts) {
			return false
		}
		number, err := strconv.Atoi(parts[i])
		if err != nil || number != n {
			return err == nil && number > n
		}
	}
	return true
}
