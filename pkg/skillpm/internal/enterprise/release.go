package enterprise

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// release is a list whose signature was verified.
type release struct {
	source   string
	name     pack.ID // the name that it states
	version  string
	resolved string
	signers  []string

	// read returns a file of the list, nil if it does not exist.
	read func(name string) ([]byte, error)
}

// listSource is a source of lists.
type listSource interface {
	// versions returns the releases, highest first.
	versions(ctx context.Context) ([]string, error)
	// resolve returns the commit of a release, or the digest of its manifest.
	resolve(ctx context.Context, version string) (string, error)
	// open verifies the signature of a release before it reads anything of it.
	open(ctx context.Context, version, resolved string, required trust.Requirement) (*release, error)
}

// newest returns the newest list that the administrator's settings allow.
func (c *Client) newest(ctx context.Context, config *pack.Config, current *record, o SyncOptions) (*release, error) {
	conf := config.Sync
	required, err := requiredSigners(config)
	if err != nil {
		return nil, err
	}
	source, err := c.listSource(config)
	if err != nil {
		return nil, err
	}
	all, err := source.versions(ctx)
	if diag.CodeOf(err) == diag.NotFound && diag.HintOf(err) == "" {
		return nil, diag.Errorf(diag.NotFound, "%w", err).
			WithHint(
				"publish the first list with: skillpm enterprise publish DIR --to %s --pack-version 1.0.0 --signing-key FILE",
				sourceText(conf.Source))
	}
	if err != nil {
		return nil, err
	}
	version, err := highestRelease(all, conf)
	if err != nil {
		return nil, err
	}
	resolved, err := source.resolve(ctx, version)
	if err != nil {
		return nil, err
	}
	if err := checkNotOlder(current, sourceText(conf.Source), version, resolved, o); err != nil {
		return nil, err
	}
	r, err := source.open(ctx, version, resolved, required)
	if err != nil {
		return nil, err
	}
	if current != nil && current.Source == r.source && current.Resolved == r.resolved {
		r.read = c.preferLocal(current, r.read)
	}
	return r, nil
}

// preferLocal reads files from this machine if they are those of the current list, and otherwise from the source.
func (c *Client) preferLocal(current *record, read func(string) ([]byte, error)) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		want, brought := current.Files[name]
		if !brought {
			return nil, nil
		}
		data, err := safefile.ReadOptional(filepath.Join(c.Paths.Enterprise, filepath.FromSlash(name)))
		if err == nil && data != nil && "sha256:"+textx.SHA256(data) == want {
			return data, nil
		}
		return read(name)
	}
}

// listSource returns the configured source.
func (c *Client) listSource(config *pack.Config) (listSource, error) {
	name, err := config.Sync.ListName()
	if err != nil {
		return nil, err
	}
	sources := c.Sources(config)
	if config.Sync.Source.Kind == pack.KindGit {
		return gitSource{ref: config.Sync.Source, name: name, git: sources.Git(), verifier: sources.Verifier(false)},
			nil
	}
	return ociSource{ref: config.Sync.Source, name: name, oci: sources.OCI(), verifier: sources.Verifier(false)}, nil
}

// checkName refuses a list that the same signers published for another purpose. The signature of an artifact covers its
// name; a signed git tag relies on the name in the manifest.
func (r *release) checkName(conf pack.SyncSettings, l *list) error {
	if conf.Source.Kind != pack.KindGit || l.manifest.Name == r.name {
		return nil
	}
	fact := "does not have a name"
	if !l.manifest.Name.IsZero() {
		fact = "has the name " + l.manifest.Name.String()
	}
	return diag.Errorf(diag.Integrity,
		"the fleet list at %s must have the name %s, but its %s %s", r.source, r.name,
		scope.ManifestName, fact).
		WithHint("set name: %s in the list's %s, or change name under sync in the administrator's config.yaml",
			r.name, scope.ManifestName)
}

// highestRelease returns the highest release in the range.
func highestRelease(all []string, conf pack.SyncSettings) (string, error) {
	text := conf.Version
	if text == "" {
		text = "*" // any but pre-releases
	}
	constraint, err := semver.NewConstraint(text)
	if err != nil {
		return "", err
	}
	for _, v := range all {
		if parsed, err := semver.StrictNewVersion(v); err == nil && constraint.Check(parsed) {
			return v, nil
		}
	}
	return "", diag.Errorf(diag.NotFound, "%s does not contain a release that matches %s",
		sourceText(conf.Source), text).
		WithHint("create a tag for the release, such as v1.0.0")
}

// checkNotOlder refuses a list that is older than the current one, or that has the same version and other content.
func checkNotOlder(current *record, source, version, resolved string, o SyncOptions) error {
	if current == nil || current.Source != source || o.AllowDowngrade {
		return nil
	}
	now, err := semver.StrictNewVersion(version)
	if err != nil {
		return err
	}
	was, err := semver.StrictNewVersion(current.Release)
	switch {
	case err != nil:
		return diag.Errorf(diag.Invalid, "the current fleet list has the invalid version %q", current.Release)
	case now.LessThan(was):
		return diag.Errorf(diag.Denied,
			"the newest fleet list at %s is %s, which is older than the current %s", source, version, current.Release).
			WithHint("check why the source no longer has the newer list, " +
				"then accept the older list with: skillpm enterprise sync --allow-downgrade")
	case now.Equal(was) && current.Resolved != resolved:
		return diag.Errorf(diag.Integrity,
			"the fleet list %s at %s is now %s, but was %s when skillpm applied it; releases must not change", version,
			source, resolved, current.Resolved).
			WithHint("ask the publisher of the list why the release changed; a change of the list needs a new version")
	}
	return nil
}

// requiredSigners reads the keys whose signatures count for the list.
func requiredSigners(config *pack.Config) (trust.Requirement, error) {
	var files []string
	for _, key := range config.Sync.Keys {
		file := config.File(key)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return trust.Requirement{}, diag.Errorf(diag.NotFound,
				"cannot verify the fleet list: the key file %s does not exist", file).
				WithHint("create the allowed signers file (git) or public key (oci) as root, or change keys under sync")
		}
		files = append(files, file)
	}
	w, err := trust.ReadKeys(files)
	w.Threshold = config.Sync.Threshold
	return w, err
}

// sourceText writes a source in the form of lockfiles, with the directory that they leave out.
func sourceText(ref pack.Ref) string {
	if text := ref.Source(); strings.Contains(text, ":") {
		return text
	}
	return ref.String()
}

// Bounds of a list.
const (
	maxFileSize = 4 << 20 // bytes
)

// readFile reads a file of a list, nil if it does not exist.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, diag.Errorf(diag.Invalid, "%s in the fleet list is not a file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err == nil && len(data) > maxFileSize {
		err = diag.Errorf(diag.Invalid, "%s in the fleet list is larger than %d bytes", name, maxFileSize)
	}
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}
