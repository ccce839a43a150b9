package publish

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// statusStore stores whether versions of a pack are yanked or deprecated.
type statusStore interface {
	// versions returns the published versions.
	versions(ctx context.Context) ([]string, error)
	// change updates the status with f.
	change(ctx context.Context, f func(*oci.Status) error) error
}

// openStatus opens the status of a pack in a registry: a destination as in publish, the directory of an index, or a
// name in the user's settings. The default is where publish puts the owner's packs.
func (c *Client) openStatus(location string, id pack.ID) (where string, store statusStore, err error) {
	if location, err = c.registryRef(location, id); err != nil {
		return "", nil, err
	}
	dir := c.Machine.Abs(strings.TrimPrefix(location, "oci-layout:"))
	switch {
	case location == "" || location == "local" || strings.HasPrefix(location, "oci://") ||
		strings.HasPrefix(location, "oci-layout:"):
		ref, err := c.parseTarget(location, id)
		if err != nil {
			return "", nil, err
		}
		sources, err := c.UserSources()
		return ref.String(), repository{sources.OCI(), ref}, err
	case strings.Contains(location, "://") || location == registry.Embedded:
		return "", nil, diag.Errorf(diag.Usage,
			"cannot change the remote index %s: skillpm changes only indexes in directories", location).
			WithHint("use --registry DIR with a checkout of the index, then publish the index")
	case isFile(filepath.Join(dir, "oci-layout")):
		return c.openStatus("oci-layout:"+dir, id)
	case !isFile(filepath.Join(dir, index.ConfigPath)):
		return "", nil, diag.Errorf(diag.NotFound, "%s is not an index or an OCI layout", location).
			WithHint("use a directory that contains %s, oci://REGISTRY/NAMESPACE, or oci-layout:DIR", index.ConfigPath)
	}
	file := filepath.Join(dir, filepath.FromSlash(index.Path(id)))
	return c.DisplayPath(file), indexFile{id: id, file: file, display: c.DisplayPath(file)}, nil
}

// registryRef resolves the name of a registry. "" means the registry that the owner is bound to.
func (c *Client) registryRef(location string, id pack.ID) (string, error) {
	user, err := c.Machine.UserConfig()
	if err != nil {
		return "", err
	}
	admin, err := c.Machine.AdminConfig()
	if err != nil {
		return "", err
	}
	for _, config := range []*pack.Config{admin, user} {
		if location == "" {
			location = config.Namespaces[id.Owner]
		}
	}
	for _, r := range slices.Concat(user.Registries, admin.Registries) {
		if location != "" && r.Name == location {
			return r.URL, nil
		}
	}
	return location, nil
}

func isFile(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// repository is the status of a pack in a registry or layout.
type repository struct {
	client *oci.Client
	ref    pack.Ref
}

func (r repository) versions(ctx context.Context) ([]string, error) {
	return r.client.Versions(ctx, r.ref)
}

func (r repository) change(ctx context.Context, f func(*oci.Status) error) error {
	return r.client.SetStatus(ctx, r.ref, f)
}

// indexFile is the status of a pack in the directory of an index.
type indexFile struct {
	id            pack.ID
	file, display string
}

func (x indexFile) read() ([]byte, *index.Entry, error) {
	data, err := safefile.ReadFile(x.file, index.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, diag.Errorf(diag.NotFound, "the index does not contain the pack %s: %s does not exist",
			x.id, x.display)
	}
	if err != nil {
		return nil, nil, err
	}
	entry, err := index.Parse(x.display, data)
	return data, entry, err
}

func (x indexFile) versions(context.Context) ([]string, error) {
	_, entry, err := x.read()
	if err != nil {
		return nil, err
	}
	var list []string
	for _, v := range entry.Versions {
		list = append(list, v.Version)
	}
	return list, nil
}

// change appends the changes of f to the file, because an index keeps the history of statuses.
func (x indexFile) change(_ context.Context, f func(*oci.Status) error) error {
	data, entry, err := x.read()
	if err != nil {
		return err
	}
	was := oci.Status{Yanked: map[string]string{}, Deprecated: entry.Deprecated}
	is := oci.Status{Yanked: map[string]string{}, Deprecated: entry.Deprecated}
	for _, v := range entry.Versions {
		if v.Yanked != "" {
			was.Yanked[v.Version], is.Yanked[v.Version] = v.Yanked, v.Yanked
		}
	}
	if err := f(&is); err != nil {
		return err
	}
	out := data
	for _, v := range entry.Versions {
		if was.Yanked[v.Version] != is.Yanked[v.Version] && err == nil {
			out, err = index.AppendYank(x.display, out, v.Version, is.Yanked[v.Version])
		}
	}
	if was.Deprecated != is.Deprecated && err == nil {
		out, err = index.AppendDeprecate(x.display, out, is.Deprecated)
	}
	if err != nil || len(out) == len(data) {
		return err
	}
	info, err := os.Stat(x.file)
	if err != nil {
		return err
	}
	return replaceFile(x.file, out, info.Mode().Perm())
}
