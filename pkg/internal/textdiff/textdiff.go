// Package textdiff says what changes between two trees of files, as text that a person can judge and `git apply` can
// apply: the text of a skill is what an agent will follow.
//
// Its rules: the same trees give the same text. Files are compared line by line, in time that is bounded whatever they
// hold, each and all together: where the shortest difference would take too long to find, a longer one is given, which
// is as right. Files that are no text are binary, and told as such; so are files beyond a size, and differences beyond
// one, each and all together. A zero byte alone makes no file binary, or it would hide a text. Nothing in the text is
// changed, control characters included, because it would not apply any more: [Visible] makes it fit to be printed.
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
	Read       func() ([]byte, error) // reads Data when it is wanted; nil where Data has it
	Executable bool
}

// Bytes returns what is in the file.
func (f *File) Bytes() ([]byte, error) {
	if f.Read == nil {
		return f.Data, nil
	}
	return f.Read()
}

// Status says what happened to a file.
type Status string

// What can happen to a file.
const (
	Added   Status = "added"
	Removed Status = "removed"
	Changed Status = "changed" // its bytes, and perhaps whether it is executable
	Mode    Status = "mode"    // only whether it is executable
)

// Change is what happened to one file.
type Change struct {
	Path   string `json:"path"`
	Status Status `json:"status"`

	OldSize       int  `json:"oldSize"` // in bytes; 0 where there is no file
	NewSize       int  `json:"newSize"`
	OldExecutable bool `json:"oldExecutable,omitempty"`
	NewExecutable bool `json:"newExecutable,omitempty"`

	Binary bool `json:"binary,omitempty"` // its lines mean nothing
	Large  bool `json:"large,omitempty"`  // it, or its difference, is too large to be shown

	Insertions int `json:"insertions"` // lines; 0 where they are not shown
	Deletions  int `json:"deletions"`

	Text string `json:"text"` // its part of the difference, ending with a line end
}

// Diff is what happened to a tree: its files that changed, in order of their paths.
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

// The sizes in bytes beyond which a file is told of and not shown.
const (
	defaultMaxFile = 4 << 20
	DefaultMaxText = 1 << 20
)

// Budget is what comparisons may take together. Lines of files that come when the steps are spent are replaced as a
// whole, and differences that come when the text is spent are large.
type Budget struct {
	Steps int // of looking for short differences
	Text  int // bytes
}

// NewBudget returns the budget that [Trees] has where it is given none.
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

// Trees compares two trees, file by file: of those that are read when they are wanted, two are held at a time. Their
// files may come in any order; a path that a tree has twice is an error of code [diag.Invalid]. When ctx ends it
// returns its error.
func Trees(ctx context.Context, before, after []File, o Options) (Diff, error) {
	o = o.orDefault()
	olds, err := byPath(before)
	if err != nil {
		return nil, err
	}
	news, err := byPath(after)
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
		var was, is *File
		if order <= 0 {
			was, olds = &olds[0], olds[1:]
		}
		if order >= 0 {
			is, news = &news[0], news[1:]
		}
		c, changed, err := compare(ctx, was, is, o)
		if err != nil {
			return nil, err
		}
		if changed {
			d = append(d, c)
		}
	}
	return d, nil
}

// byPath returns the files in order of their paths.
func byPath(files []File) ([]File, error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for i := range files {
		if i > 0 && files[i].Path == files[i-1].Path {
			return nil, diag.Errorf(diag.Invalid, "%q is there twice", files[i].Path)
		}
	}
	return files, nil
}

// loaded returns a file with its bytes, an empty one for nil.
func loaded(f *File) (*File, error) {
	if f == nil {
		return &File{}, nil
	}
	data, err := f.Bytes()
	return &File{Path: f.Path, Data: data, Executable: f.Executable}, err
}

// compare compares a file with what became of it; either may be nil.
func compare(ctx context.Context, old, now *File, o Options) (c Change, changed bool, err error) {
	if err := ctx.Err(); err != nil {
		return c, false, err
	}
	was, err := loaded(old)
	if err != nil {
		return c, false, err
	}
	is, err := loaded(now)
	if err != nil {
		return c, false, err
	}
	switch {
	case old == nil:
		c = Change{Path: is.Path, Status: Added}
	case now == nil:
		c = Change{Path: was.Path, Status: Removed}
	case !bytes.Equal(was.Data, is.Data):
		c = Change{Path: is.Path, Status: Changed}
	case was.Executable != is.Executable:
		c = Change{Path: is.Path, Status: Mode}
	default:
		return c, false, nil
	}
	c.OldSize, c.NewSize = len(was.Data), len(is.Data)
	c.OldExecutable, c.NewExecutable = was.Executable, is.Executable
	c.Large = max(c.OldSize, c.NewSize) > o.MaxFile
	c.Binary = !c.Large && (Binary(was.Data) || Binary(is.Data))
	c.Text = c.header()
	if c.Status == Mode || c.OldSize+c.NewSize == 0 {
		c.Large, c.Binary = false, false
		return c, true, nil
	}
	if !c.Large && !c.Binary {
		h := hunksOf(ctx, was.Data, is.Data, o)
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

// textPerZero is how many bytes a text has at least for each zero byte in it.
const textPerZero = 64

// Binary reports whether bytes are no text: they have many zero bytes, or some, and are not UTF-8.
func Binary(data []byte) bool {
	zeros := bytes.Count(data, []byte{0})
	return zeros > 0 && (zeros > len(data)/textPerZero || !utf8.Valid(data))
}

// header is what stands before the names, in git's form.
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
	was, is := quote("a/"+c.Path), quote("b/"+c.Path)
	switch c.Status {
	case Added:
		was = "/dev/null"
	case Removed:
		is = "/dev/null"
	}
	return nameLines(was, is)
}

// nameLines ends names with spaces by a tab, as git does, so that it is plain where they end.
func nameLines(was, is string) string {
	var b strings.Builder
	for _, line := range [...]string{"--- " + was, "+++ " + is} {
		b.WriteString(line)
		if strings.Contains(line[4:], " ") {
			b.WriteByte('\t')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// summary stands for lines that are not shown.
func (c Change) summary() string {
	kind := "Binary file "
	if c.Large {
		kind = "Large file "
	}
	name := quote(c.Path)
	switch c.Status {
	case Added:
		return fmt.Sprintf("%s%s: %d bytes\n", kind, name, c.NewSize)
	case Removed:
		return fmt.Sprintf("%s%s: was %d bytes\n", kind, name, c.OldSize)
	default:
		return fmt.Sprintf("%s%s: was %d bytes, is %d bytes\n", kind, name, c.OldSize, c.NewSize)
	}
}

// Unified compares two texts and returns their difference with three lines of context, headed by the names given; ""
// when they are equal. It is for texts, and shows whatever they hold.
func Unified(oldName, newName string, before, after []byte) string {
	if bytes.Equal(before, after) {
		return ""
	}
	h := hunksOf(context.Background(), before, after, Options{
		Context: 3, MaxText: -1,
		Budget: &Budget{Steps: math.MaxInt},
	})
	return nameLines(quote(oldName), quote(newName)) + h.text
}
