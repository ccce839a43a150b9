// Package textdiff compares two trees of files. Its output is for reviewers, since an agent follows the text of a
// skill, and for `git apply`. Start reading at [Trees]; lines.go has the algorithm.
//
// The rules it keeps:
//
//   - Equal trees give equal text.
//   - Files are compared line by line, in bounded time, each and all together. If the shortest difference would take
//     too long to find, the result is a longer one, which is as correct.
//   - Binary files are reported without their content; so are files and differences beyond a size. A single zero byte
//     does not make a file binary, or it would hide a text.
//   - The text is not changed, including control characters, because it would not apply any more: [Visible] makes it
//     safe to print.
//
// This package may change at any time.
package textdiff

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
)

// File is one file of a tree.
type File struct {
	Path       string // slash-separated, relative to the tree
	Data       []byte
	Read       func() ([]byte, error) // reads Data when it is needed; nil if Data is set
	Executable bool
}

// Bytes returns the file's content.
func (f *File) Bytes() ([]byte, error) {
	if f.Read == nil {
		return f.Data, nil
	}
	return f.Read()
}

// Status is what happened to a file.
type Status string

// What can happen to a file.
const (
	Added   Status = "added"
	Removed Status = "removed"
	Changed Status = "changed" // its bytes, and perhaps whether it is executable
	Mode    Status = "mode"    // only whether it is executable
)

// Change describes the change of one file.
type Change struct {
	Path   string `json:"path"`
	Status Status `json:"status"`

	OldSize       int  `json:"oldSize"` // in bytes; 0 if there is no file
	NewSize       int  `json:"newSize"`
	OldExecutable bool `json:"oldExecutable,omitempty"`
	NewExecutable bool `json:"newExecutable,omitempty"`

	Binary bool `json:"binary,omitempty"` // it has no lines to compare
	Large  bool `json:"large,omitempty"`  // it, or its difference, is too large to be shown

	Insertions int `json:"insertions"` // lines; 0 if they are not compared
	Deletions  int `json:"deletions"`

	Text string `json:"text"` // its part of the difference, ending with a line end
}

// Diff lists the changed files of a tree, sorted by path.
type Diff []Change

// Stat counts what happened to a tree.
type Stat struct {
	Files      int `json:"files"`
	Insertions int `json:"insertions"`
	Deletions  int `json:"deletions"`
}

// Stat counts the files that changed, and their lines.
func (d Diff) Stat() Stat {
	s := Stat{Files: len(d)}
	for _, c := range d {
		s.Insertions += c.Insertions
		s.Deletions += c.Deletions
	}
	return s
}

// String returns the whole difference. `git apply` takes it if no file in it is binary or large.
func (d Diff) String() string {
	var b strings.Builder
	for _, c := range d {
		b.WriteString(c.Text)
	}
	return b.String()
}

// Options say how trees are compared. The zero value has the defaults.
type Options struct {
	Context int // lines shown around each change; 0 means 3, less than 0 none
	MaxFile int // bytes of a file beyond which it is large; 0 means [defaultMaxFile]
	MaxText int // bytes of a file's difference beyond which it is large; 0 means [DefaultMaxText]

	Budget *Budget // shared with other comparisons; nil for one of its own
}

// The sizes in bytes beyond which a file's content is left out.
const (
	defaultMaxFile = 4 << 20
	DefaultMaxText = 1 << 20
)

// Budget limits what comparisons may use together. When the steps are used up, the lines of further files are replaced
// as a whole; when the text is used up, further differences are large.
type Budget struct {
	Steps int // of the search for short differences
	Text  int // bytes
}

// NewBudget returns the default budget of [Trees].
func NewBudget() *Budget { return &Budget{Steps: 1 << 28, Text: 32 << 20} }

func (o Options) orDefault() Options {
	o.MaxFile = cmp.Or(o.MaxFile, defaultMaxFile)
	o.MaxText = cmp.Or(o.MaxText, DefaultMaxText)
	if o.Budget == nil {
		o.Budget = NewBudget()
	}
	if o.Context = cmp.Or(o.Context, 3); o.Context < 0 {
		o.Context = 0
	}
	return o
}

// Trees compares two trees, file by file, and keeps at most two files that it reads in memory. The files may be in any
// order; a duplicate path is an error of code [diag.Invalid].
func Trees(ctx context.Context, before, after []File, o Options) (Diff, error) {
	o = o.orDefault()
	olds, err := sortedByPath(before)
	if err != nil {
		return nil, err
	}
	news, err := sortedByPath(after)
	if err != nil {
		return nil, err
	}
	var d Diff
	for len(olds) > 0 || len(news) > 0 {
		var order int
		switch {
		case len(news) == 0:
			order = -1
		case len(olds) == 0:
			order = 1
		default:
			order = strings.Compare(olds[0].Path, news[0].Path)
		}
		var oldFile, newFile *File
		if order <= 0 {
			oldFile, olds = &olds[0], olds[1:]
		}
		if order >= 0 {
			newFile, news = &news[0], news[1:]
		}
		c, changed, err := compare(ctx, oldFile, newFile, o)
		if err != nil {
			return nil, err
		}
		if changed {
			d = append(d, c)
		}
	}
	return d, nil
}

// sortedByPath returns the files in order of their paths.
func sortedByPath(files []File) ([]File, error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for i := range files {
		if i > 0 && files[i].Path == files[i-1].Path {
			return nil, diag.Errorf(diag.Invalid, "the file %q is duplicated", files[i].Path)
		}
	}
	return files, nil
}

// load returns a file with its content, an empty one for nil.
func load(f *File) (*File, error) {
	if f == nil {
		return &File{}, nil
	}
	data, err := f.Bytes()
	return &File{Path: f.Path, Data: data, Executable: f.Executable}, err
}

// compare compares a file with its new version; either may be nil.
func compare(ctx context.Context, old, now *File, o Options) (c Change, changed bool, err error) {
	if err := ctx.Err(); err != nil {
		return c, false, err
	}
	before, err := load(old)
	if err != nil {
		return c, false, err
	}
	after, err := load(now)
	if err != nil {
		return c, false, err
	}
	switch {
	case old == nil:
		c = Change{Path: after.Path, Status: Added}
	case now == nil:
		c = Change{Path: before.Path, Status: Removed}
	case !bytes.Equal(before.Data, after.Data):
		c = Change{Path: after.Path, Status: Changed}
	case before.Executable != after.Executable:
		c = Change{Path: after.Path, Status: Mode}
	default:
		return c, false, nil
	}
	c.OldSize, c.NewSize = len(before.Data), len(after.Data)
	c.OldExecutable, c.NewExecutable = before.Executable, after.Executable
	c.Large = max(c.OldSize, c.NewSize) > o.MaxFile
	c.Binary = !c.Large && (Binary(before.Data) || Binary(after.Data))
	c.Text = c.header()
	if c.Status == Mode || c.OldSize+c.NewSize == 0 {
		c.Large, c.Binary = false, false
		return c, true, nil
	}
	if !c.Large && !c.Binary {
		h := diffHunks(ctx, before.Data, after.Data, o)
		if err := ctx.Err(); err != nil {
			return c, false, err
		}
		c.Insertions, c.Deletions, c.Large = h.insertions, h.deletions, h.cut
		if !h.cut {
			c.Text += c.names() + h.text
			return c, true, nil
		}
	}
	c.Text += c.summary()
	return c, true, nil
}

// textPerZero is how many bytes a text must have for each zero byte in it.
const textPerZero = 64

// Binary reports whether data is not text: it has many zero bytes, or some, and is not UTF-8.
func Binary(data []byte) bool {
	zeros := bytes.Count(data, []byte{0})
	return zeros > 0 && (zeros > len(data)/textPerZero || !utf8.Valid(data))
}

// header returns the lines before the names, in git's form.
func (c Change) header() string {
	text := "diff --git " + quote("a/"+c.Path) + " " + quote("b/"+c.Path) + "\n"
	switch {
	case c.Status == Added:
		return text + "new file mode " + mode(c.NewExecutable) + "\n"
	case c.Status == Removed:
		return text + "deleted file mode " + mode(c.OldExecutable) + "\n"
	case c.OldExecutable != c.NewExecutable:
		return text + "old mode " + mode(c.OldExecutable) + "\nnew mode " + mode(c.NewExecutable) + "\n"
	}
	return text
}

func mode(executable bool) string {
	if executable {
		return "100755"
	}
	return "100644"
}

// names returns the two lines that name the file as it was and as it is.
func (c Change) names() string {
	oldName, newName := quote("a/"+c.Path), quote("b/"+c.Path)
	switch c.Status {
	case Added:
		oldName = "/dev/null"
	case Removed:
		newName = "/dev/null"
	}
	return nameLines(oldName, newName)
}

// nameLines returns the lines with the names. As in git, a tab ends a name with spaces.
func nameLines(oldName, newName string) string {
	var b strings.Builder
	for _, line := range [...]string{"--- " + oldName, "+++ " + newName} {
		b.WriteString(line)
		if strings.Contains(line[4:], " ") {
			b.WriteByte('\t')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// summary replaces lines that are not shown.
func (c Change) summary() string {
	kind := "Binary file "
	if c.Large {
		kind = "Large file "
	}
	name := quote(c.Path)
	switch c.Status {
	case Added:
		return fmt.Sprintf("%s%s: added, %d bytes\n", kind, name, c.NewSize)
	case Removed:
		return fmt.Sprintf("%s%s: removed, %d bytes\n", kind, name, c.OldSize)
	default:
		return fmt.Sprintf("%s%s: %d bytes, previously %d bytes\n", kind, name, c.NewSize, c.OldSize)
	}
}

// Unified returns the difference of two texts with the given names; "" if they are equal. Otherwise it is like [Hunks].
func Unified(oldName, newName string, before, after []byte) string {
	if bytes.Equal(before, after) {
		return ""
	}
	return nameLines(quote(oldName), quote(newName)) + Hunks(before, after)
}

// Hunks returns the difference of two texts with three lines of context, without the lines that name the files. It has
// no limits.
func Hunks(before, after []byte) string {
	return diffHunks(context.Background(), before, after, Options{
		Context: 3, MaxText: -1,
		Budget: &Budget{Steps: math.MaxInt},
	}).text
}
