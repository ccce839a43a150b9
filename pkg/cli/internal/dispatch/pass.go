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
	maxText  = 2000 // characters that are passed on inline
	maxLines = 100  // of code
	maxKeys  = 100  // of a JSON object; one with more is text
)

// succeeded replies with what a command printed: the keys of a JSON object, or else its text.
func (e *execution) succeeded(skill string, res *session.RunResult) *Reply {
	p := &passing{files: e.files(), skill: skill, modified: e.began, dir: e.host.Dir()}
	size := json.RawMessage(nil)
	if fields, ok := object(res.Stdout); ok && !res.Truncated {
		for _, f := range fields {
			switch raw := f.Value.(json.RawMessage); f.Key {
			case "skill": // is said by this side
			case "output_path":
				_ = json.Unmarshal(raw, &p.path) // what is no text is no path
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
	data := Data{{"skill", skill}, {"output_path", nil}, {"output_size", p.size(size, res.StdoutSize)}}
	summary := fmt.Sprintf(e.say.done, skill)
	if p.path != "" {
		data[1].Value = p.path
		summary = fmt.Sprintf(e.say.written, skill, textx.TruncateRunes(p.path, 200))
	}
	return &Reply{State: Success, Summary: summary, Data: append(data, p.data...)}
}

// object reads a JSON object, its keys in order. Of a key that is there twice the first counts.
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

// passing collects what is passed on.
type passing struct {
	files    *files
	skill    string
	dir      string
	modified time.Time
	path     string // of the output: what the command says, or the first file that is written
	data     Data
	err      error
}

// field passes one key on, by the rule of its name.
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

// long reports whether a text under a key goes to a file.
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

// output passes on what is no JSON object, as content.
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

// write puts a long value into a file, and its path in its place.
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

// size returns how large the output is: what the command says, that of the file, nil if there is none at its path, or
// that of what was printed.
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

// humanSize writes a number of bytes as people do.
func humanSize(n int64) string {
	units, size := []string{"B", "KB", "MB", "GB"}, float64(n)
	for len(units) > 1 && size >= 1024 {
		size, units = size/1024, units[1:]
	}
	return strconv.FormatFloat(math.Round(size*10)/10, 'f', -1, 64) + units[0]
}

// defaultOutputDir is where long output is written, from the project's root, or without a project from the working
// directory.
const defaultOutputDir = ".skillpm/output"

// files writes new files into one directory.
type files struct {
	base, sub string // the directory is sub in base, and no link leads out of base
	dir       string // the working directory, which paths are relative to
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

// write makes a new file, whose name begins with name, and returns its path.
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
			_ = root.WriteFile(f.sub+"/.gitignore", []byte("*\n"), 0o644) // without it the files are only more visible
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
			_ = root.Remove(filepath.FromSlash(file)) // half of it is of no use
			return "", outputError(err)
		}
		return f.displayPath(filepath.Join(f.base, filepath.FromSlash(file))), nil
	}
	return "", diag.Errorf(diag.Conflict, "there are too many files %s in the output directory", name).
		WithHint("remove old ones")
}

func outputError(err error) error {
	return diag.Errorf(diag.Internal, "the output could not be written to a file: %w", err).
		WithHint("choose a directory that can be written to: --output-dir DIR")
}

// displayPath returns a path relative to the working directory where it is inside, with slashes.
func (f *files) displayPath(path string) string {
	if rel, ok := pathx.Rel(f.dir, path); ok {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

// slug returns a text with only what every file system allows in a name.
func slug(text string) string {
	s := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, text)
	return strings.Trim(s[max(0, len(s)-120):], "-")
}
