//go:build slow

package tool

import (
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadingPrograms checks SPEC O10 with the real programs: whatever options and operands a command has that counts as
// only reading, the program starts no other program, writes no file, and opens no file apart from those that the
// decision is about. The options are those of the forms, and all that the programs of this machine document.
// SKILLPM_READING_LINES is the number of commands for each program and variant, and SKILLPM_SHELL_SEED the first seed.
func TestReadingPrograms(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	count := envNumber("SKILLPM_READING_LINES", 20)
	total := map[string]int{}
	for _, program := range slices.Sorted(maps.Keys(readingForms())) {
		for _, variant := range readingVariants(program) {
			m := readingMaker{
				rand:     rand.New(rand.NewPCG(uint64(envNumber("SKILLPM_SHELL_SEED", 1)), uint64(len(program)))),
				program:  program,
				form:     readingForms()[program],
				longFrom: longOptions(variant.argv),
			}
			for tries, done := 0, 0; done < count && tries < 4000*count; tries++ {
				words := m.words()
				u, ok := readingOf(words)
				if !ok {
					continue
				}
				done++
				total[strings.Join(variant.argv, " ")]++
				m.check(t, variant, words[1:], u)
			}
		}
	}
	t.Logf("commands: %v", total)
}

func readingOf(words []string) (use, bool) {
	c := command{}
	for _, w := range words {
		c.words = append(c.words, word{text: w})
	}
	return c.reading()
}

// readingVariant is a program that a name can mean, with its environment.
type readingVariant struct {
	argv []string
	env  []string
}

func readingVariants(program string) (variants []readingVariant) {
	plain := []string{"PATH=/nonexistent", "HOME=/nonexistent", "LC_ALL=C.UTF-8"}
	if path, err := exec.LookPath(program); err == nil {
		variants = append(variants, readingVariant{[]string{path}, plain},
			readingVariant{[]string{path}, append(slices.Clone(plain), "POSIXLY_CORRECT=1")})
	}
	for _, all := range []string{"busybox", "toybox"} {
		path, err := exec.LookPath(all)
		if err == nil && exec.Command(path, program, "--help").Run() == nil {
			variants = append(variants, readingVariant{[]string{path, program}, plain})
		}
	}
	if path := "/usr/lib/cargo/bin/coreutils/" + program; exec.Command(path, "--version").Run() == nil {
		variants = append(variants, readingVariant{[]string{path}, plain})
	}
	return variants
}

// longOptions returns the long options in the help of a program.
func longOptions(argv []string) []string {
	help, _ := exec.Command(argv[0], append(slices.Clone(argv[1:]), "--help")...).CombinedOutput()
	all := regexp.MustCompile(`--?[a-zA-Z0-9][\w-]*`).FindAllString(string(help), -1)
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// readingMaker makes commands of a program.
type readingMaker struct {
	rand     *rand.Rand
	program  string
	form     readingForm
	longFrom []string
}

func (m *readingMaker) pick(all []string) string { return all[m.rand.IntN(len(all))] }

func (m *readingMaker) words() []string {
	words := []string{m.program}
	if m.program == "sed" && m.rand.IntN(4) > 0 {
		words = append(words, "-n",
			m.pick([]string{"1p", "1,2p", "$p", "1,$p", "2,1p", "0p", "p", "1,2", "1w x", "1e ls", "1p;1w x"}))
	}
	for range m.rand.IntN(5) {
		words = append(words, m.option()...)
	}
	for range m.rand.IntN(3) {
		words = append(words, m.pick([]string{
			"in/a", "in/b", "in", "in/sub", ".", "--", "-", "x", "SECRET", "-e1e touch pwned", "--pre=./run", "-nf", "in/*", "+1",
			"-1", "-n", "-name", "a", "-o", "!", "(", ")", "-type", "f", "-print", "-exec", "./run", ";", "",
		}))
	}
	return words
}

func (m *readingMaker) option() []string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	value := m.pick([]string{"1", "in/a", "x", "./run", "*", "a", "-1", "+1", "--", "-e", "f", "go", "never", "path", "out", "0"})
	switch m.rand.IntN(7) {
	case 0, 1:
		known := m.form.flags + m.form.valued + m.form.numbers
		if known == "" {
			known = letters
		}
		i, j := m.rand.IntN(len(known)), m.rand.IntN(len(known))
		return []string{"-" + known[i:i+1] + known[j:j+1]}
	case 2:
		known := m.form.flags + m.form.valued + m.form.numbers + letters
		i := m.rand.IntN(len(known))
		return []string{"-" + known[i:i+1], value}
	case 3:
		known := m.form.flags + m.form.valued + m.form.numbers + letters
		i := m.rand.IntN(len(known))
		return []string{"-" + known[i:i+1] + value}
	case 4:
		if len(m.longFrom) > 0 {
			return []string{m.pick(m.longFrom) + m.pick([]string{"", "=" + value})}
		}
	case 5:
		if names := strings.Fields(m.form.names + " " + m.form.values); len(names) > 0 {
			return []string{"--" + m.pick(names) + m.pick([]string{"", "=" + value})}
		}
	}
	if m.program == "find" {
		return []string{
			m.pick([]string{
				"-name", "-path", "-type", "-size", "-mtime", "-maxdepth", "-regex", "-empty", "-print0", "-prune", "-not",
			}),
			m.pick([]string{"*", "a", "f", "1", "-exec", "-delete", "-fprint"}),
		}
	}
	return []string{value}
}

// check runs a command, and reports what it does besides reading the paths of a use.
func (m *readingMaker) check(t *testing.T, variant readingVariant, args []string, u use) {
	t.Helper()
	dir, err := os.MkdirTemp("", "reading")
	must(t, err)
	defer os.RemoveAll(dir)
	work := filepath.Join(dir, "work")
	for name, text := range map[string]string{
		"work/in/a": "x\n", "work/in/b": "x\n", "work/in/sub/a": "x\n", "work/x": "x\n", "work/a": "x\n", "work/1": "x\n",
		"work/--": "x\n", "work/run": "#!/bin/sh\ntouch pwned\n", "secret/s": "x SECRET\n",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	must(t, os.Symlink("../../secret", filepath.Join(work, "in/dir")))
	must(t, os.Symlink("../../secret/s", filepath.Join(work, "in/link")))
	trace := filepath.Join(dir, "trace")
	argv := slices.Concat([]string{"-f", "-qq", "-y", "-o", trace, "-e", "trace=%file,%process,truncate,ftruncate"},
		variant.argv, args)
	cmd := exec.Command("strace", argv...)
	cmd.Dir, cmd.Env = work, variant.env
	cmd.Stdin = strings.NewReader("x\n")
	output, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	text := strings.Join(append(slices.Clone(variant.argv), args...), " ")
	if strings.Contains(string(output), "x SECRET") {
		t.Errorf("%q follows a link", text)
	}
	data, err := os.ReadFile(trace)
	must(t, err)
	for line := range strings.Lines(string(data)) {
		if why := effect(line, work, u.values); why != "" {
			t.Errorf("%q, which reads %q, %s: %s", text, u.values, why, strings.TrimSpace(line))
		}
	}
}

// effect returns what a system call does besides reading files at or below some paths, "" for nothing.
func effect(call, work string, paths []string) string {
	_, call, _ = strings.Cut(strings.TrimSpace(call), " ")
	call = strings.TrimSpace(call)
	name, _, _ := strings.Cut(call, "(")
	if strings.Contains(call, "= -1 ") || !strings.Contains(call, "= ") { // it failed, or the program was ended
		return ""
	}
	switch name {
	case "execve", "execveat":
		if strings.Contains(call, "work/") || !strings.HasPrefix(call, "execve(") {
			return "runs a program"
		}
	case "rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat", "creat", "truncate", "ftruncate",
		"link", "linkat", "symlink", "symlinkat", "chmod", "fchmodat", "chown", "utimensat", "mknod", "mknodat", "rmdir":
		return "changes files"
	case "open", "openat", "openat2":
		if strings.Contains(call, "/dev/null") || strings.Contains(call, "/dev/tty") {
			return ""
		}
		if strings.Contains(call, "O_WRONLY") || strings.Contains(call, "O_RDWR") || strings.Contains(call, "O_CREAT") {
			return "writes a file"
		}
		at := call[strings.LastIndex(call, "= "):]
		_, opened, _ := strings.Cut(at, "<")
		opened = strings.TrimSuffix(strings.TrimSpace(opened), ">")
		rel, in := strings.CutPrefix(opened, work+"/")
		switch {
		case opened == work && slices.Contains(paths, "."):
		case strings.Contains(opened, "/secret"):
			return "follows a link"
		case in && !slices.ContainsFunc(paths, func(p string) bool {
			p = filepath.Clean(p)
			return p == "." || rel == p || strings.HasPrefix(rel, p+"/")
		}):
			return "reads another file"
		}
	}
	return ""
}
