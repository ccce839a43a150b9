package registry

import (
	"context"
	"errors"
	"io/fs"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/source/internal/memo"
)

// files are the static files of an index. A missing file is [fs.ErrNotExist].
type files interface {
	read(ctx context.Context, path string) ([]byte, error)
}

// indexRegistry is a registry that is an index.
type indexRegistry struct {
	name  string
	files files
	base  pack.Ref // the location of the index itself

	server string       // the URL of the server that has the index; "" for none
	named  *httpx.Named // records the servers that the index names

	entries memo.Map[pack.ID, *index.Entry] // a nil value is a known miss
	config  memo.Map[string, *index.Config]
}

func newIndexRegistry(name string, f files, base pack.Ref) *indexRegistry {
	return &indexRegistry{name: name, files: f, base: base}
}

// on returns the registry as one on a server, whose names of other servers are recorded.
func (r *indexRegistry) on(server string, named *httpx.Named) *indexRegistry {
	r.server, r.named = server, named
	return r
}

func (r *indexRegistry) Name() string { return r.name }

func (r *indexRegistry) Versions(ctx context.Context, id pack.ID) ([]Version, error) {
	entry, err := r.entry(ctx, id)
	if err != nil {
		return nil, err
	}
	versions := make([]Version, len(entry.Versions))
	for i, l := range entry.Versions {
		versions[i] = Version{
			Version: l.Version, Yanked: l.Yanked != "", Reason: l.Yanked, Published: l.Published,
			Deprecated: entry.Deprecated,
		}
		if p, err := l.Pack(r.base); err == nil { // an invalid line does not have a source
			versions[i].Source, versions[i].Digest = p.Ref.Source(), p.Ref.Digest
		}
	}
	return versions, nil
}

func (r *indexRegistry) Pack(ctx context.Context, id pack.ID, version string) (*pack.Pack, error) {
	entry, err := r.entry(ctx, id)
	if err != nil {
		return nil, err
	}
	line, ok := entry.Line(version)
	if !ok {
		versions, _ := r.Versions(ctx, id)
		return nil, noVersion(r.name, id, version, versions)
	}
	p, err := line.Pack(r.base)
	if d, ok := r.files.(dirFiles); ok && err == nil {
		err = index.CheckLayout(d.fsys, line.Source)
	}
	if err != nil {
		return nil, diag.Errorf(diag.CodeOf(err), "%s: %w", r.name, err).WithHint("%s", diag.HintOf(err))
	}
	for _, ref := range append(pack.References(p), p.Ref) {
		if err := r.named.Add(r.server, ref.URL); err != nil {
			return nil, diag.Errorf(diag.CodeOf(err), "%s: %s@%s: %w", r.name, id, version, err)
		}
	}
	return p, nil
}

// entry reads a pack's file once.
func (r *indexRegistry) entry(ctx context.Context, id pack.ID) (*index.Entry, error) {
	entry, err := r.entries.Get(ctx, id, func(ctx context.Context) (*index.Entry, error) { return r.load(ctx, id) })
	if err != nil {
		return nil, err
	}
	if entry == nil {
		return nil, &NotFoundError{Pack: id, Registry: r.name}
	}
	return entry, nil
}

// load returns nil if the index does not have the pack. Before it accepts a miss it checks that an index exists at the
// address, so that a mistyped address is an error. A hit costs one file.
func (r *indexRegistry) load(ctx context.Context, id pack.ID) (*index.Entry, error) {
	path := index.Path(id)
	data, err := r.files.read(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, r.check(ctx)
	}
	if err != nil {
		return nil, err
	}
	entry, err := index.Parse(path, data)
	if err != nil {
		return nil, diag.Errorf(diag.CodeOf(err), "%s: %w", r.name, err)
	}
	if entry.ID != id {
		return nil, diag.Errorf(diag.Invalid, "%s: %s contains entries of %s", r.name, path, entry.ID)
	}
	return entry, nil
}

// check reads config.json once.
func (r *indexRegistry) check(ctx context.Context) error {
	_, err := r.config.Get(ctx, index.ConfigPath, r.loadConfig)
	return err
}

func (r *indexRegistry) loadConfig(ctx context.Context) (*index.Config, error) {
	data, err := r.files.read(ctx, index.ConfigPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.Invalid, "%s is not an index: it does not contain %s", r.name, index.ConfigPath).
			WithHint("check the address of the registry")
	}
	if err != nil {
		return nil, err
	}
	config, err := index.ParseConfig(index.ConfigPath, data)
	if err != nil {
		return nil, diag.Errorf(diag.CodeOf(err), "%s: %w", r.name, err).WithHint("%s", diag.HintOf(err))
	}
	return config, nil
}

// dirFiles reads an index from a file system.
type dirFiles struct {
	name string
	fsys fs.FS
}

func (d dirFiles) read(_ context.Context, path string) ([]byte, error) {
	data, err := safefile.ReadIn(d.fsys, path, index.MaxBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.CodeOf(err), "%s: %w", d.name, err)
	}
	return data, err
}
