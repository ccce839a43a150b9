package indexer

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// InitOptions configure [Client.Init].
type InitOptions struct {
	Dir   string // "" means the client's directory
	Title string // for display
}

// InitReport is the result of [Client.Init].
type InitReport struct {
	Dir   string   `json:"dir"`
	Files []string `json:"files"` // written files
}

// attributes prevent git from changing the bytes of an index, and mark derived files as generated.
const attributes = "packs/** -text merge=union\n" + index.CatalogPath + " -text -diff linguist-generated\n"

// Init creates an index without packs. Existing files stay unchanged.
func (c *Client) Init(_ context.Context, o InitOptions) (*InitReport, error) {
	dir := c.Dir
	if o.Dir != "" {
		dir = c.Machine.Abs(o.Dir)
	}
	out := &indexDir{dir: dir, display: c.DisplayPath(dir), fsys: safefile.Dir(dir)}
	if _, err := os.Stat(out.path(index.ConfigPath)); err == nil {
		return nil, diag.Errorf(diag.Conflict, "%s is already an index", out.display).
			WithHint("add packs with: skillpm index add SOURCE")
	}
	if _, err := os.Lstat(out.path(index.ConfigPath)); err == nil {
		return nil, diag.Errorf(diag.Invalid, "%s is a link to a file that does not exist",
			c.DisplayPath(out.path(index.ConfigPath))).WithHint("remove the link")
	}
	r := &InitReport{Dir: out.display, Files: []string{}}
	files := []struct {
		name string
		data []byte
	}{
		{".gitattributes", []byte(attributes)},
		{"packs/.gitkeep", nil},
		{index.ConfigPath, (&index.Config{Version: index.FormatVersion, Title: o.Title}).Encode()}, // it makes the index
	}
	for _, f := range files {
		switch _, err := fs.Lstat(out.fsys, f.name); {
		case err == nil:
			continue
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err // a link leads out of the directory
		}
		if err := writeFile(out.path(f.name), f.data); err != nil {
			return nil, err
		}
		r.Files = append(r.Files, f.name)
	}
	return r, nil
}
