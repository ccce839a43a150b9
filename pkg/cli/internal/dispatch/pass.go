package dispatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

const (
	maxText  = 2000 // maximum characters inline
	maxLines = 100  // for code
	maxKeys  = 100  // of a JSON object; one with more is treated as text
)

// succeeded returns the reply with a command's output: the keys of a JSON object, or else the text.
func (e *execution) succeeded(skill string, res *session.RunResult) *Reply {
	p := &passing{files: e.files(), skill: skill, modified: e.began, dir: e.host.Dir(), skillDir: e.dir}
	size := json.RawMessage(nil)
	if fields, ok := object(res.Stdout); ok && !res.Truncated {
		for _, f := range fields {
			switch raw := f.Value.(json.RawMessage); f.Key {
			case "skill": // set by skillpm
			case "output_path":
				_ = json.Unmarshal(raw, &p.path) // other types are not paths
			case "output_size":
				size = raw
			default:
				p.field(f.Key, raw)
			}
		}
	} else {
		p.output(res)
	}
	if p.err != nil {
		return e.failed(p.err)
	}
	p.locate()
	data := Data{{"skill", skill}, {"output_path", nil}, {"output_size", p.size(size, res.StdoutSize)}}
	summary := fmt.Sprintf(e.say.done, skill)
	if p.path != "" {
		data[1].Value = p.path
		summary = fmt.Sprintf(e.say.written, skill, textx.TruncateRunes(p.path, 200))
	}
	return &Reply{State: Success, Summary: summary, Data: append(data, p.data...)}
}

// object parses a JSON object and keeps the order of its keys. Of duplicate keys, the first counts.
func object(text []byte) (fields Data, ok bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' || !utf8.Valid(text) || !json.Valid(text) {
		return nil, false
	}
	for m := range jsonx.Members(text) {
		if len(fields) == maxKeys {
			return nil, false
		}
		if !slices.ContainsFunc(fields, func(f Field) bool { return f.Key == m.Key }) {
			fields = append(fields, Field{m.Key, m.Value})
		}
	}
	return fields, true
}

// passing collects the data of a reply.
type passing struct {
	files    *files
	skill    string
	dir      string // of the caller
	skillDir string // in which the command ran
	modified time.Time
	path     string // of the output: from the command, or the first written file
	data     Data
	err      error
}

// field adds one key, by the rule for its name.
func (p *passing) field(key string, raw json.RawMessage) {
	var text string
	if json.Unmarshal(raw, &text) != nil || bytes.Equal(raw, []byte("null")) {
		if (key == "analysis" || key == "report") || utf8.RuneCount(raw) <= maxText {
			p.data = append(p.data, Field{key, raw})
			return
		}
		p.write(key, ".json", raw)
		return
	}
	if long(key, text) {
		p.write(key, ".txt", []byte(text))
		return
	}
	p.data = append(p.data, Field{key, text})
}

// long reports whether the text of a key must go to a file.
func long(key, text string) bool {
	switch key {
	case "analysis", "report":
		return false
	case "code", "script":
		return strings.Count(strings.TrimSuffix(text, "\n"), "\n") >= maxLines
	default:
		return utf8.RuneCountInString(text) > maxText
	}
}

// output adds output that is not a JSON object, as content.
func (p *passing) output(res *session.RunResult) {
	text := strings.TrimRight(string(res.Stdout), "\n")
	switch {
	case !utf8.ValidString(text):
		p.write("content", ".bin", res.Stdout)
	case res.Truncated || long("content", text):
		p.write("content", ".txt", res.Stdout)
	case text != "":
		p.data = append(p.data, Field{"content", text})
	}
	if res.StdoutSize > int64(len(res.Stdout)) {
		p.data = append(p.data, Field{"truncated", true})
	}
}

// locate replaces the path of an output that the command wrote to its own directory by the caller's path for it.
func (p *passing) locate() {
	if p.path == "" || filepath.IsAbs(p.path) {
		return
	}
	if _, err := os.Stat(filepath.Join(p.dir, filepath.FromSlash(p.path))); err == nil {
		return
	}
	if own := filepath.Join(p.skillDir, filepath.FromSlash(p.path)); pathx.Contains(p.skillDir, own) {
		if _, err := os.Stat(own); err == nil {
			p.path = p.files.displayPath(own)
		}
	}
}

// write writes a long value to a file and replaces it with the path.
func (p *passing) write(key, extension string, data []byte) {
	if p.err != nil {
		return
	}
	var path string
	if path, p.err = p.files.write(p.skill+"-"+key+"-"+p.modified.Format("20060102-150405"), extension,
		data); p.err != nil {
		return
	}
	if p.path == "" {
		p.path = path
	}
	p.data = append(p.data, Field{key + "_path", path})
}

// size returns the size of the output: the one that the command states, that of the file, or that of the printed text;
// nil if the path does not exist.
func (p *passing) size(output json.RawMessage, printed int64) any {
	if len(output) > 0 && len(output) < 100 {
		return output
	}
	if p.path != "" {
		file := filepath.FromSlash(p.path)
		if !filepath.IsAbs(file) {
			file = filepath.Join(p.dir, file)
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return humanSize(info.Size())
		}
		return nil
	}
	return humanSize(printed)
}

// humanSize formats a number of bytes.
func humanSize(n int64) string {
	units, size := []string{"B", "KB", "MB", "GB"}, float64(n)
	for len(units) > 1 && size >= 1024 {
		size, units = size/1024, units[1:]
	}
	return strconv.FormatFloat(math.Round(size*10)/10, 'f', -1, 64) + units[0]
}

// defaultOutputDir is the directory for long output, relative to the project's root or, without a project, to the
// working directory.
const defaultOutputDir = ".skillpm/output"

// files creates new files in one directory.
type files struct {
	base, sub string // sub in base, where no link can lead out
	dir       string // the working directory, for relative paths
}

func (e *execution) files() *files {
	if e.o.OutputDir != "" {
		return &files{base: e.o.OutputDir, sub: ".", dir: e.host.Dir()}
	}
	base := e.host.Project()
	if base == "" {
		base = e.host.Dir()
	}
	return &files{base: base, sub: defaultOutputDir, dir: e.host.Dir()}
}

// write creates a new file whose name starts with name, and returns its path.
func (f *files) write(name, extension string, data []byte) (string, error) {
	if f.sub == "." {
		if err := os.MkdirAll(f.base, 0o755); err != nil {
			return "", outputError(err)
		}
	}
	root, err := os.OpenRoot(f.base)
	if err != nil {
		return "", outputError(err)
	}
	defer root.Close()
	if f.sub != "." {
		if _, err := root.Stat(f.sub); err != nil {
			if err := root.MkdirAll(f.sub, 0o755); err != nil {
				return "", outputError(err)
			}
			// without .gitignore the files are only more visible
			_ = root.WriteFile(f.sub+"/.gitignore", []byte("*\n"), 0o644)
		}
	}
	name = slug(name)
	for n := 1; n < 1000; n++ {
		file := f.sub + "/" + name + extension
		if n > 1 {
			file = f.sub + "/" + name + "-" + strconv.Itoa(n) + extension
		}
		out, err := root.OpenFile(filepath.FromSlash(file), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			return "", outputError(err)
		}
		_, err = out.Write(data)
		if closed := out.Close(); err == nil {
			err = closed
		}
		if err != nil {
			_ = root.Remove(filepath.FromSlash(file)) // a partial file is useless
			return "", outputError(err)
		}
		return f.displayPath(filepath.Join(f.base, filepath.FromSlash(file))), nil
	}
	return "", diag.Errorf(diag.Conflict, "cannot write %s: the output directory has too many files with this name", name).
		WithHint("delete old files in the output directory")
}

func outputError(err error) error {
	return diag.Errorf(diag.Internal, "cannot write the output to a file: %w", err).
		WithHint("choose a writable directory with --output-dir DIR")
}

// displayPath returns a path relative to the working directory if it is inside, with slashes.
func (f *files) displayPath(path string) string {
	if rel, ok := pathx.Rel(f.dir, path); ok {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

// slug reduces a text to characters that every file system allows in a name.
func slug(text string) string {
	s := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, text)
	return strings.Trim(s[max(0, len(s)-120):], "-")
}
