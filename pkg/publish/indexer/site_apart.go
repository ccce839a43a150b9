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
			"cannot write the website to %s: the directory overlaps with the index %s", c.DisplayPath(out),
			index.display).
			WithHint("use an --output directory outside of the index")
	}
	if o.Marketplace == "" {
		return nil
	}
	market := c.Machine.Abs(o.Marketplace)
	if mixed, err := overlap(market, out); err != nil {
		return err
	} else if mixed {
		return diag.Errorf(diag.Usage,
			"the directories of --marketplace and --output overlap, so a web server would show files of packs as pages").
			WithHint("use separate directories for --marketplace and --output")
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
