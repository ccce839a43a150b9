package indexer

import (
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// checkSeparate returns an error if one of the directories of a website contains another one, also through links.
func (c *Client) checkSeparate(index *indexDir, o SiteOptions) error {
	out := c.Machine.Abs(o.Out)
	if mixed, err := overlap(out, index.dir); err != nil {
		return err
	} else if mixed {
		return diag.Errorf(diag.Usage,
			"the catalogue cannot be written to %s: it and the index %s would be in one another", c.DisplayPath(out),
			index.display).
			WithHint("give --out a directory beside that of the index")
	}
	if o.Marketplace == "" {
		return nil
	}
	market := c.Machine.Abs(o.Marketplace)
	if mixed, err := overlap(market, out); err != nil {
		return err
	} else if mixed {
		return diag.Errorf(diag.Usage,
			"the marketplace needs a directory of its own: it has the packs' files as they are, and a web server "+
				"would show them as pages of the catalogue").
			WithHint("give --marketplace a directory that is not in that of --out, nor around it: a git repository " +
				"for instance")
	}
	return nil
}

// overlap reports whether one of two directories, which need not exist, is or contains the other.
func overlap(a, b string) (bool, error) {
	in, err := pathx.ContainsResolved(a, b)
	if in || err != nil {
		return in, err
	}
	return pathx.ContainsResolved(b, a)
}
