package oci

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill"
)

// lookInside reads a layer that no annotation describes for its skills. What it found is kept: fetching the pack
// downloads the layer once more and knows then what to expect.
func (c *Client) lookInside(ctx context.Context, p place, layer ocispec.Descriptor) ([]root, error) {
	c.mu.Lock()
	roots, ok := c.foreign[string(layer.Digest)]
	c.mu.Unlock()
	if ok {
		return roots, nil
	}
	survey := &survey{hasher: bundle.NewHasher(c.opts.Limits), main: make(map[string][]byte)}
	opts := bundle.UnpackOptions{Layout: bundle.Auto, Limits: c.opts.Limits}
	if err := c.stream(ctx, p, layer, opts, survey); err != nil {
		return nil, err
	}
	roots, err := survey.roots()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.foreign[string(layer.Digest)] = roots
	c.mu.Unlock()
	return roots, nil
}

// survey is a sink that keeps SKILL.md files and digests only.
type survey struct {
	hasher *bundle.Hasher
	main   map[string][]byte // SKILL.md by directory
}

// maxMain is the size over which a SKILL.md is not read for its name.
const maxMain = 1 << 20

func (s *survey) WriteFile(dir, path string, executable bool, size int64, r io.Reader) error {
	if path == "SKILL.md" && size <= maxMain {
		var buf bytes.Buffer
		r = io.TeeReader(r, &buf)
		defer func() { s.main[dir] = buf.Bytes() }()
	}
	return s.hasher.WriteFile(dir, path, executable, size, r)
}

// roots names the skills: by their frontmatter, else by their directory, made legal.
func (s *survey) roots() ([]root, error) {
	var roots []root
	for dir, inv := range s.hasher.Inventories() {
		doc, _ := skill.Parse(s.main[dir])
		name := cmp.Or(legal(doc.Name()), legal(dir), skill.Slug(cmp.Or(dir, doc.Name())))
		if name == "" {
			return nil, diag.Errorf(diag.Invalid, "the skill in %q has no name", clean(dir))
		}
		roots = append(roots, root{dir: dir, name: name, tree: inv.Digest(), description: oneLine(doc.Description())})
	}
	slices.SortFunc(roots, func(a, b root) int { return strings.Compare(a.dir, b.dir) })
	return roots, nil
}

func legal(name string) string {
	if skill.LegalName(name) {
		return name
	}
	return ""
}
