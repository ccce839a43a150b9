package enterprise

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/Masterminds/semver/v3"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// PublishOptions are the options of [Publish].
type PublishOptions struct {
	Dir     string           // with skillpm.yaml and skillpm.lock
	To      string           // oci://host/repository
	Version string           // "" for the one in skillpm.yaml
	Key     *sign.PrivateKey // signs it
	DryRun  bool             // only check it
}

// PublishReport is the result of [Publish].
type PublishReport struct {
	Reference string   `json:"reference"`
	Version   string   `json:"version"`
	Digest    string   `json:"digest,omitempty"` // "" in a dry run
	Signer    string   `json:"signer"`           // the key's fingerprint
	Files     []string `json:"files"`
	Packs     int      `json:"packs"`
	Existed   bool     `json:"existed,omitempty"` // the version was there already, and the same
	DryRun    bool     `json:"dryRun,omitempty"`

	Warnings []string `json:"warnings"`
}

// Publish pushes a list to an OCI registry: by its digest, then the signature, then the tag, so that a version never
// appears without its signature. A version that exists with other content is a conflict.
func Publish(ctx context.Context, t *base.Base, o PublishOptions) (*PublishReport, error) {
	defer t.Progress(fetch.Event{Done: true})
	read := func(name string) ([]byte, error) { return readFromDir(t.Machine.Abs(o.Dir), name) }
	l, err := readList(read)
	if err != nil {
		return nil, err
	}
	r := &PublishReport{
		Packs: len(l.lock.Packs), Signer: o.Key.Public().Fingerprint(), DryRun: o.DryRun, Warnings: []string{},
	}
	if r.Version, err = l.version(o.Version); err != nil {
		return nil, err
	}
	at, id, err := parseDestination(o.To)
	if err != nil {
		return nil, err
	}
	a, err := artifact(l, id, r.Version, read)
	if err != nil {
		return nil, err
	}
	for _, b := range a.Blobs {
		r.Files = append(r.Files, b.Annotations[ocispec.AnnotationTitle])
	}
	r.Reference = at.String() + ":" + r.Version
	notes, err := t.MayPublish(at, id.String(), true)
	if r.Warnings = append(r.Warnings, notes...); err != nil || o.DryRun {
		return r, err
	}
	sources, err := t.UserSources()
	if err != nil {
		return nil, err
	}
	record := audit.Record{Pack: id.String(), Version: r.Version, Reason: "Fleet list for an enterprise layer"}
	return r, t.RecordPublish(at, record, func() error { return push(ctx, sources, at, a, o.Key, r) })
}

// push stores a list, its signature, and its tag.
func push(
	ctx context.Context, sources *source.Clients, at pack.Ref, a oci.Artifact, key *sign.PrivateKey, r *PublishReport,
) (err error) {
	client := sources.OCI()
	tagged := at
	tagged.Rev = r.Version
	existing, err := client.Pin(ctx, tagged)
	if err != nil && diag.CodeOf(err) != diag.NotFound {
		return err
	}
	if r.Digest, err = client.PutArtifact(ctx, at, a); err != nil {
		return err
	}
	if existing != "" && existing != r.Digest {
		return diag.Errorf(diag.Conflict, "%s already exists with different content", r.Reference).
			WithHint("publish the list as a new version; machines reject a changed release")
	}
	pinned := at
	pinned.Digest = r.Digest
	if _, err := sources.Verifier(false).Sign(ctx, pinned, key, nil); err != nil {
		return err
	}
	if r.Existed = existing != ""; r.Existed {
		return nil
	}
	_, err = client.PutArtifact(ctx, at, a, r.Version)
	return err
}

// version returns the version that a list is published as.
func (l *list) version(version string) (string, error) {
	if version == "" {
		version = l.manifest.Version
	}
	if version == "" {
		return "", diag.Errorf(diag.Usage, "the fleet list does not have a version").
			WithHint("use --pack-version 1.0.0, or set version in the skillpm.yaml of the list")
	}
	if _, err := semver.StrictNewVersion(version); err != nil {
		return "", diag.Errorf(diag.Usage, "invalid version %q", version).WithHint("use three numbers, such as 1.4.0")
	}
	return version, nil
}

// parseDestination reads the repository that a list is published to.
func parseDestination(text string) (pack.Ref, pack.ID, error) {
	at, err := pack.Parse(text)
	if err != nil {
		return at, pack.ID{}, err
	}
	if at.Kind == pack.KindOCI && (at.Rev != "" || at.Digest != "") {
		return at, pack.ID{}, diag.Errorf(diag.Usage,
			"--to %s must not contain a tag or digest, because skillpm uses the version as the tag", text).
			WithHint("use oci://REGISTRY/REPOSITORY, without a tag or digest")
	}
	if at.Kind != pack.KindOCI {
		return at, pack.ID{}, diag.Errorf(diag.Usage, "--to %s is not an OCI repository", text).
			WithHint("use oci://REGISTRY/REPOSITORY")
	}
	id, err := at.DefaultID()
	return at, id, err
}

// artifact returns the OCI artifact of a list. It is deterministic.
func artifact(l *list, id pack.ID, version string, read func(string) ([]byte, error)) (oci.Artifact, error) {
	annotation, err := json.Marshal(struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}{id.String(), version})
	if err != nil {
		return oci.Artifact{}, err
	}
	a := oci.Artifact{Type: ArtifactType, Annotations: map[string]string{
		oci.AnnotationList: string(annotation), ocispec.AnnotationVersion: version,
		ocispec.AnnotationTitle: id.String(),
	}}
	names := []string{scope.ManifestName, scope.LockName}
	for name := range l.files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		data, err := read(name)
		if err != nil {
			return a, err
		}
		a.Blobs = append(a.Blobs, oci.Blob{
			MediaType: mediaTypeFile, Data: data, Annotations: map[string]string{ocispec.AnnotationTitle: name},
		})
	}
	for _, name := range keyFiles(l.policy) {
		if l.files[name] == nil {
			return a, diag.Errorf(diag.NotFound,
				"the fleet list's %s refers to the key %s, which is not in the directory of the list", enforce.PolicyName, name).
				WithHint("add the key to the directory of the list")
		}
	}
	return a, nil
}

// readFromDir reads a file of a directory, nil if it does not exist.
func readFromDir(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.NotFound, "%s does not exist", dir)
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readFile(root.FS(), filepath.ToSlash(name))
}
