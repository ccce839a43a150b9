package oci

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Fetch streams the files of a pack's skills, or only of the named ones, into sink. The pack comes from [Client.Open]
// or an index, so its ref has a digest. Fetch unpacks layers while it downloads them and verifies them at their end: if
// it returns an error, sink must discard everything.
func (c *Client) Fetch(ctx context.Context, p *pack.Pack, skills []string, sink bundle.Sink) error {
	return c.secrets.RedactError(httpx.PreferContext(ctx, c.fetch(ctx, p, skills, sink)))
}

func (c *Client) fetch(ctx context.Context, p *pack.Pack, skills []string, sink bundle.Sink) error {
	want, err := wantedSkills(p, skills)
	if err != nil {
		return err
	}
	src, err := c.open(ctx, p.Ref)
	if err != nil {
		return err
	}
	if !pack.IsDigest(p.Ref.Digest) {
		return diag.Errorf(diag.Internal, "%s is not pinned to a digest", p.Ref)
	}
	a, err := c.read(ctx, src, p.Ref, p.Ref.Digest)
	if err != nil {
		return err
	}
	parts, err := c.parts(ctx, src, p.Ref, a, want)
	if err != nil {
		return nameInError(p.Ref, err)
	}
	if err := compare(p, parts); err != nil {
		return err
	}
	fetched := make(map[string]bool)
	total, received := int64(0), int64(0)
	for _, part := range parts {
		total += part.layer.Size
	}
	meter, used := pack.ProgressFrom(ctx), new(int64)
	for _, part := range parts {
		ctx := pack.WithProgress(ctx, func(n, _ int64) { meter(received+n, total) })
		if err := c.unpack(ctx, src, part, want, fetched, used, sink); err != nil {
			return nameInError(p.Ref, err)
		}
		received += part.layer.Size
	}
	for _, s := range p.Skills {
		if want(s.Name) && !fetched[s.Name] {
			return diag.Errorf(diag.Integrity, "%s lists the skill %s but does not contain it", trimVersion(p.Ref), s.Name)
		}
	}
	return nil
}

// nameInError adds the pack's name to an error that does not name it.
func nameInError(ref pack.Ref, err error) error {
	where := trimVersion(ref)
	if strings.Contains(err.Error(), where) {
		return err
	}
	return diag.Errorf(diag.CodeOf(err), "%s: %w", where, err)
}

// compare checks an artifact's skills against those of the index or the lockfile, before anything is downloaded.
func compare(p *pack.Pack, parts []part) error {
	for _, one := range parts {
		for _, r := range one.roots {
			if s, ok := p.Skill(r.name); ok && s.Tree != "" && r.tree != "" && s.Tree != r.tree {
				return &bundle.MismatchError{
					What: "skill " + r.name + " of " + trimVersion(p.Ref), Want: s.Tree,
					Got: r.tree,
				}
			}
		}
	}
	return nil
}

// wantedSkills returns the skills to fetch: the named ones, else those of the pack's description, else all.
func wantedSkills(p *pack.Pack, skills []string) (func(string) bool, error) {
	for _, name := range skills {
		if _, ok := p.Skill(name); !ok {
			return nil, diag.Errorf(diag.NotFound, "%s@%s does not contain the skill %s", p.ID, p.Version, name).
				WithHint("available skills: %s", strings.Join(p.SkillNames(), ", "))
		}
	}
	if len(skills) > 0 {
		return func(name string) bool { return slices.Contains(skills, name) }, nil
	}
	return func(name string) bool {
		_, ok := p.Skill(name)
		return ok || len(p.Skills) == 0
	}, nil
}

// part is a layer and its skills.
type part struct {
	layer   ocispec.Descriptor
	roots   []root
	foreign bool // made by another tool: directories may differ from the skills' names
	single  bool // the layer is one skill with its SKILL.md at the root
}

// root is a skill in a layer.
type root struct {
	dir         string // top-level directory in the archive; "" for the archive's root
	name        string
	tree        string
	description string
}

// parts returns the layers that hold the wanted skills; nil means all skills.
func (c *Client) parts(ctx context.Context, p reader, ref pack.Ref, a *artifact, want func(string) bool) ([]part,
	error,
) {
	used := new(int64)
	if !a.isIndex() {
		one, err := c.part(ctx, p, a, used)
		return []part{one}, err
	}
	members := a.members
	if a.kind != MediaTypeCollection {
		if err := checkPlatforms(members); err != nil {
			return nil, err
		}
		members = members[:1]
	}
	var parts []part
	for _, d := range members {
		name := d.Annotations[annotationSkillName]
		if name != "" && want != nil && !want(name) {
			continue
		}
		m, err := c.read(ctx, p, ref, string(d.Digest))
		if other := d.Annotations[annotationSkillRef]; diag.CodeOf(err) == diag.NotFound && other != "" {
			return nil, diag.Errorf(diag.NotFound, "%w: the collection refers to another repository for the skill",
				err).
				WithHint("install the skill from %s", httpx.Clean(other))
		}
		if err != nil {
			return nil, err
		}
		if m.isIndex() || (d.Size != m.desc.Size) {
			return nil, diag.Errorf(diag.Invalid, "the collection lists a wrong type or size for the OCI manifest %s",
				d.Digest)
		}
		one, err := c.part(ctx, p, m, used)
		if err != nil {
			return nil, err
		}
		parts = append(parts, one)
	}
	return parts, nil
}

// checkPlatforms accepts an index that lists one artifact for several platforms, as image builders write it.
func checkPlatforms(members []ocispec.Descriptor) error {
	for _, d := range members[1:] {
		if d.Platform == nil {
			return diag.Errorf(diag.Invalid, "the source is an OCI index of %d artifacts, not a pack", len(members)).
				WithHint("use the digest of one of the artifacts")
		}
	}
	return nil
}

func (c *Client) part(ctx context.Context, p reader, a *artifact, used *int64) (part, error) {
	layer, err := a.layer()
	if err != nil {
		return part{}, err
	}
	if most := c.largestLayer(); layer.Size > most {
		return part{}, diag.Errorf(diag.Invalid, "the layer %s has %d bytes; the limit is %d", layer.Digest, layer.Size,
			most)
	}
	if a.info == nil {
		roots, err := c.readIndexFiles(ctx, p, layer, used)
		return part{layer: layer, roots: roots, foreign: true}, err
	}
	one := part{layer: layer, single: a.kind == mediaTypeToolHive}
	if one.single && len(a.info.Skills) != 1 {
		return part{}, diag.Errorf(diag.Invalid, "the OCI manifest lists %d skills, but the ToolHive format allows one",
			len(a.info.Skills))
	}
	for _, name := range slices.Sorted(maps.Keys(a.info.Skills)) {
		one.roots = append(one.roots, root{dir: name, name: name, tree: a.info.Skills[name]})
	}
	return one, nil
}

// unpack streams one layer into sink and records in got which skills it held.
func (c *Client) unpack(ctx context.Context, p reader, one part, want func(string) bool, fetched map[string]bool,
	used *int64, sink bundle.Sink,
) error {
	names := make(map[string]string, len(one.roots)) // directory -> skill
	for _, r := range one.roots {
		names[r.dir] = r.name
	}
	var stray error
	opts := bundle.UnpackOptions{Limits: c.opts.Limits, Used: used}
	opts.Want = func(dir string) bool {
		name, ok := names[dir]
		if !ok {
			stray = diag.Errorf(diag.Integrity,
				"the layer contains the directory %q, but the OCI manifest does not list it", httpx.Clean(dir))
			return false
		}
		fetched[name] = true
		return want(name)
	}
	if one.single {
		opts.Layout, opts.Skill = bundle.Single, one.roots[0].dir
	}
	named := renamingSink{sink, names}
	if one.foreign {
		opts.Layout = bundle.Auto
		return errors.Join(c.streamTwice(ctx, p, one.layer, opts, named), stray)
	}
	return errors.Join(c.stream(ctx, p, one.layer, opts, named), stray)
}

// largestLayer is the maximum size of a layer to download. A larger one would exceed the limits even without
// compression.
func (c *Client) largestLayer() int64 {
	const perFile = 4 << 10 // headers and padding
	limits := c.opts.Limits.OrDefault()
	return limits.TotalBytes + int64(limits.Files)*perFile
}

// stream unpacks a layer while it downloads and verifies it.
func (c *Client) stream(ctx context.Context, p reader, layer ocispec.Descriptor, opts bundle.UnpackOptions,
	sink bundle.Sink,
) error {
	body, err := p.blob(ctx, layer)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	v := newVerifier(newProgressReader(ctx, body, layer.Size), layer, "layer "+string(layer.Digest))
	return explain(ctx, v, bundle.Unpack(v, opts, sink))
}

// explain reads the rest of a layer after unpacking. If the bytes do not match their digest, it returns that error,
// which is the best explanation for an unpacking error.
func explain(ctx context.Context, v *verifier, err error) error {
	var mismatch *bundle.MismatchError
	if err == nil {
		return cmp.Or(v.drain(), ctx.Err())
	}
	if ctx.Err() == nil && !errors.As(err, &mismatch) {
		if late := v.drain(); errors.As(late, &mismatch) {
			return late
		}
	}
	return err
}

// renamingSink writes files to a sink under the skills' names.
type renamingSink struct {
	sink  bundle.Sink
	names map[string]string
}

func (s renamingSink) WriteFile(skill, path string, executable bool, size int64, r io.Reader) error {
	return s.sink.WriteFile(s.names[skill], path, executable, size, r)
}

// progressReader reports the number of bytes read to the progress meter of its context. It stops when the context ends.
type progressReader struct {
	ctx             context.Context
	r               io.Reader
	meter           pack.Progress
	received, total int64
}

func newProgressReader(ctx context.Context, r io.Reader, total int64) *progressReader {
	return &progressReader{ctx: ctx, r: r, meter: pack.ProgressFrom(ctx), total: total}
}

func (m *progressReader) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.Read(p)
	if n > 0 {
		m.received += int64(n)
		m.meter(m.received, m.total)
	}
	return n, err
}
