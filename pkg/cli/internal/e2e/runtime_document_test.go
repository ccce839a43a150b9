package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestRuntimeDocument runs what docs/runtime.md shows.
func TestRuntimeDocument(t *testing.T) { runDocument(t, "runtime.md", 15) }

// TestTourDocument runs what docs/tour.md shows.
func TestTourDocument(t *testing.T) { runDocument(t, "tour.md", 17) }

// TestSkillTestsDocument runs what docs/skill-tests.md shows. SPEC O25.
func TestSkillTestsDocument(t *testing.T) { runDocument(t, "skill-tests.md", 5) }

// runDocument runs what a document shows, with so many commands at least: a block with a path behind its language is a
// file, in the project or in the home directory (~/); a block of console has commands, each with what it prints; a
// directory that one goes to holds for the next. A line of … stands for any lines, and … inside a line for any text.
func runDocument(t *testing.T, name string, atLeast int) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	work := t.TempDir()
	home, project := filepath.Join(work, "home"), filepath.Join(work, "home", "shop")
	for _, dir := range []string{home, project} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	environ := append(os.Environ(), "HOME="+home, "NO_COLOR=1", "GIT_CONFIG_GLOBAL="+os.DevNull, enterpriseDir+"="+filepath.Join(work, "enterprise"))
	commands, dir, at := 0, project, filepath.Join(work, "directory")
	for _, b := range blocks(readDocument(t, name)) {
		if b.path != "" {
			path := filepath.Join(project, filepath.FromSlash(b.path))
			if rest, ok := strings.CutPrefix(b.path, "~/"); ok {
				path = filepath.Join(home, filepath.FromSlash(rest))
			}
			put(t, path, strings.Join(b.lines, "\n")+"\n")
			continue
		}
		for _, c := range b.commands() {
			commands++
			cmd := exec.Command("sh", "-c", c.lines[0]+"\npwd >"+at)
			cmd.Dir, cmd.Env = dir, environ
			out, _ := cmd.CombinedOutput() // the code of a refusal is in what is printed
			if now, err := os.ReadFile(at); err == nil {
				dir = strings.TrimSuffix(string(now), "\n")
			}
			if got := strings.TrimSuffix(string(out), "\n"); !regexp.MustCompile(pattern(c.lines[1:])).MatchString(got) {
				t.Errorf("line %d: %s\nprints\n%s\nand not\n%s", c.line, c.lines[0], got, strings.Join(c.lines[1:], "\n"))
			}
		}
	}
	if commands < atLeast {
		t.Errorf("%d commands were run", commands)
	}
}

// block is a fenced block of a document, or one command of it with what it prints.
type block struct {
	line  int
	path  string // of the file that it is, "" for a console
	lines []string
}

// blocks returns the consoles and files of a document.
func blocks(lines []string) []block {
	var all []block
	for i := 0; i < len(lines); i++ {
		info, ok := strings.CutPrefix(lines[i], "```")
		if !ok {
			continue
		}
		language, path, _ := strings.Cut(info, " ")
		b := block{line: i + 2, path: path}
		for i++; i < len(lines) && lines[i] != "```"; i++ {
			b.lines = append(b.lines, lines[i])
		}
		if path != "" || language == "console" {
			all = append(all, b)
		}
	}
	return all
}

// commands returns the commands of a console.
func (b block) commands() []block {
	var all []block
	for i, line := range b.lines {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, block{line: b.line + i, lines: []string{command}})
		} else if len(all) > 0 {
			last := &all[len(all)-1]
			last.lines = append(last.lines, line)
		}
	}
	return all
}

// pattern returns what matches the output that a document shows.
func pattern(lines []string) string {
	var p strings.Builder
	p.WriteString(`^`)
	for i, line := range lines {
		if line == "…" {
			p.WriteString(`(?s:.*)`)
			continue
		}
		if i > 0 && lines[i-1] != "…" {
			p.WriteString(`\n`)
		} else if i > 0 {
			p.WriteString(`\n?`)
		}
		p.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", `.*`))
	}
	p.WriteString(`$`)
	return p.String()
}

// put writes a file that can be run where it says how.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
