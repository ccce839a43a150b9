package run

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// interpreters returns the programs that run files with an extension, in order of preference.
func interpreters(extension string) [][]string {
	switch strings.ToLower(extension) {
	case ".sh":
		return [][]string{{"bash"}, {"sh"}}
	case ".bash":
		return [][]string{{"bash"}}
	case ".zsh":
		return [][]string{{"zsh"}}
	case ".py":
		if runtime.GOOS == "windows" {
			return [][]string{{"python"}, {"py", "-3"}}
		}
		return [][]string{{"python3"}, {"python"}}
	case ".js", ".mjs", ".cjs":
		return [][]string{{"node"}}
	case ".ts", ".mts":
		return [][]string{{"tsx"}, {"bun"}, {"node"}} // node strips types since 22.18
	case ".rb":
		return [][]string{{"ruby"}}
	case ".pl":
		return [][]string{{"perl"}}
	case ".php":
		return [][]string{{"php"}}
	case ".lua":
		return [][]string{{"lua"}}
	case ".r":
		return [][]string{{"Rscript"}}
	case ".ps1":
		options := []string{"-NoProfile", "-NonInteractive", "-File"}
		return [][]string{append([]string{"pwsh"}, options...), append([]string{"powershell"}, options...)}
	default:
		return nil
	}
}

// Script returns the command line that runs a file of a skill: the file itself if it is executable, or else the
// interpreter for its extension, which it searches in the PATH of env. The name is relative to dir, with slashes; a
// name without a slash is also searched in scripts/. It must be a regular file that no link leads out of dir to.
func Script(env []string, dir, name string, args []string) ([]string, error) {
	search := pathOf(env)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, diag.Errorf(diag.NotFound, "cannot open the skill's directory: %w", err)
	}
	defer root.Close()
	file, info, err := locate(root, dir, name)
	if err != nil {
		return nil, err
	}
	first := firstLine(root, file)
	script := filepath.Join(dir, filepath.FromSlash(file))
	if runtime.GOOS != "windows" && info.Mode()&0o111 != 0 && (first != "" || interpreters(path.Ext(file)) == nil) {
		if err := checkShebang(file, first, search); err != nil {
			return nil, err
		}
		return append([]string{script}, args...), nil
	}
	candidates := interpreters(path.Ext(file))
	for _, argv := range candidates {
		if _, err := lookPath(argv[0], search); err == nil {
			return slices.Concat(argv, []string{script}, args), nil
		}
	}
	switch {
	case len(candidates) > 0:
		return nil, diag.Errorf(diag.NotFound, "%s needs %s, which is not installed", file, candidates[0][0]).
			WithHint("install %s, or add its directory to PATH", candidates[0][0])
	case first != "" && runtime.GOOS != "windows":
		return nil, diag.Errorf(diag.Invalid, "%s is not executable", file).
			WithHint("make the script executable with: chmod +x %s", script)
	default:
		return nil, diag.Errorf(diag.Invalid,
			"%s is not a script: it is not executable, and does not have the extension of a script", file).
			WithHint("make the file executable, or use the extension .sh, .py, .js, .ts, .rb, .pl, .php, .lua, .r, or .ps1")
	}
}

// locate finds a file in a skill's directory.
func locate(root *os.Root, dir, name string) (string, fs.FileInfo, error) {
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if name == "" || !filepath.IsLocal(filepath.FromSlash(clean)) || clean == "." {
		return "", nil, diag.Errorf(diag.Denied, "%q is not a path inside the skill", name).
			WithHint("use a path relative to the skill's directory, such as scripts/build.sh").HintForModels()
	}
	tries := []string{clean}
	if !strings.Contains(clean, "/") {
		tries = append(tries, "scripts/"+clean)
	}
	for _, file := range tries {
		info, err := root.Stat(file)
		switch {
		case err == nil && info.Mode().IsRegular():
			return file, info, nil
		case err == nil && len(tries) > 1 && file == clean && info.IsDir():
			continue
		case err == nil:
			return "", nil, diag.Errorf(diag.Invalid, "%s is not a regular file", file)
		case errors.Is(err, fs.ErrNotExist):
			continue
		default:
			return "", nil,
				diag.Errorf(diag.Denied, "cannot use %s: it leads out of the skill, or is not readable", file).
					WithHint("use a regular file of the skill, not a link that leads out of the skill").HintForModels()
		}
	}
	e := diag.Errorf(diag.NotFound, "the skill does not contain the file %s", clean)
	scripts, err := Scripts(dir)
	if near := diag.Nearest(clean, scripts); near != "" {
		return "", nil, e.WithHint("did you mean %s?", near)
	}
	if err != nil || len(scripts) == 0 {
		return "", nil, e.WithHint("use another skill, because this skill does not contain scripts")
	}
	return "", nil, e.WithHint("use one of the scripts %s", textx.First(scripts, 8))
}

// pathOf returns the PATH in an environment.
func pathOf(env []string) (path string) {
	for _, v := range env {
		if name, value, _ := strings.Cut(v, "="); sameName(name, "PATH") {
			path = value
		}
	}
	return path
}

// firstLine returns the shebang line of a script, or "".
func firstLine(root *os.Root, name string) string {
	f, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	const longest = 256 // the limit of Linux
	line, err := bufio.NewReader(io.LimitReader(f, longest)).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) || !bytes.HasPrefix(line, []byte("#!")) {
		return ""
	}
	return strings.TrimSuffix(string(line), "\n")
}

// checkShebang returns an error if the interpreter in a shebang line does not exist. The system's error would not name
// it.
func checkShebang(file, line, search string) error {
	if line == "" {
		return nil
	}
	if strings.HasSuffix(line, "\r") {
		return diag.Errorf(diag.Invalid, "%s has Windows line endings, which break its #! line", file).
			WithHint("save the file with LF line endings")
	}
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if len(words) == 0 {
		return diag.Errorf(diag.Invalid, "the #! line of %s does not name a program", file).
			WithHint("name the program that runs the script, such as #!/bin/sh")
	}
	program := words[0]
	if path.Base(program) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool {
			return strings.HasPrefix(w, "-") ||
				strings.Contains(w, "=")
		})
		if len(words) == 0 {
			return nil
		}
		program = words[0]
	}
	_, err := lookPath(program, search)
	if filepath.IsAbs(program) {
		_, err = exec.LookPath(program)
	}
	if err != nil {
		return diag.Errorf(diag.NotFound, "%s needs %s, which is not installed", file, program).
			WithHint("install %s, or add its directory to PATH", path.Base(program))
	}
	return nil
}

const (
	maxScripts = 1000 // scripts of one skill
	maxDepth   = 8    // levels of directories below scripts/
)

// Scripts returns the sorted slash-separated paths of the files below scripts/ that [Script] would run. It skips files
// that cannot be read.
func Scripts(dir string) ([]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var found []string
	seen := 0
	err = fs.WalkDir(root.FS(), "scripts", func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > 10*maxScripts || len(found) >= maxScripts {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return nil // an unreadable directory has no scripts
		case d.IsDir():
			if strings.Count(name, "/") >= maxDepth || name != "scripts" && isGeneratedDir(d.Name()) {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && !strings.HasPrefix(d.Name(), "."):
			if interpreters(path.Ext(name)) != nil || executable(d) {
				found = append(found, name)
			}
		}
		return nil
	})
	slices.Sort(found)
	return found, err
}

// isGeneratedDir reports whether a directory name is one of generated or hidden files.
func isGeneratedDir(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules" || name == "__pycache__"
}

func executable(d fs.DirEntry) bool {
	info, err := d.Info()
	return err == nil && info.Mode()&0o111 != 0
}
