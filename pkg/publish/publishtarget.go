package publish

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/registry"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// publishTarget returns the target for a pack. The default is the OCI registry that the settings of the user or of the
// machine's administrator bind the pack's owner to, because install looks up the owner's packs only there. Bindings in
// the project's file do not count; otherwise a repository could choose where its users push.
func (c *Client) publishTarget(destination string, id pack.ID) (t publishTarget, err error) {
	prefix, err := c.registryRef(destination, id)
	if err != nil {
		return t, err
	}
	if destination == "" {
		// an index does not accept pushes
		if prefix != "" && prefix != registry.Local && !strings.HasPrefix(prefix, "oci://") {
			t.warning = "the pack stays on this machine, and skillpm install cannot find the pack: the settings bind " +
				id.Owner + " to " + prefix + ", which is not an OCI registry (choose an OCI registry with --to)"
			prefix = ""
		}
		t.bound = prefix != ""
	}
	if strings.HasPrefix(prefix, "oci://") {
		t.registry = strings.TrimSuffix(prefix, "/")
	}
	t.ref, err = c.parseTarget(prefix, id)
	return t, err
}

// publishTarget is the target of a publication.
type publishTarget struct {
	ref      pack.Ref
	registry string // the address of the OCI registry with ref, "" if ref is on this machine
	bound    bool   // from the settings
	warning  string // a warning about the target, or ""
}

// parseTarget parses a registry or layout on the command line.
func (c *Client) parseTarget(destination string, id pack.ID) (pack.Ref, error) {
	switch {
	case destination == "" || destination == "local":
		return pack.Ref{Kind: pack.KindLocal, ID: id}, nil
	case strings.HasPrefix(destination, "oci://"):
		if last := path.Base(destination); strings.ContainsAny(last, ":@") && strings.Count(destination, "/") > 2 {
			return pack.Ref{}, diag.Errorf(diag.Usage,
				"--to %s must not contain a tag or digest, because skillpm uses the version as the tag", destination).
				WithHint("use --to %s", destination[:len(destination)-len(last)]+last[:strings.IndexAny(last, ":@")])
		}
		return pack.Parse(registry.Repository(strings.TrimSuffix(destination, "/"), id))
	case strings.HasPrefix(destination, "oci-layout:"):
		dir := strings.TrimPrefix(destination, "oci-layout:")
		if dir == "" {
			return pack.Ref{}, diag.Errorf(diag.Usage, "--to oci-layout: requires a directory").
				WithHint("use --to oci-layout:DIR")
		}
		return pack.Ref{Kind: pack.KindLayout, URL: filepath.ToSlash(c.Machine.Abs(dir)), ID: id}, nil
	default:
		hint := "use oci://REGISTRY/NAMESPACE, oci-layout:DIR, local, or the name of a configured registry"
		if strings.HasPrefix(destination, ".") || strings.HasPrefix(destination, "/") {
			hint = "use --to oci-layout:" + destination
		}
		return pack.Ref{}, diag.Errorf(diag.Usage,
			"cannot publish to %q: it is not an OCI registry or an OCI layout", destination).WithHint("%s", hint)
	}
}

// LoginReport describes a stored login.
type LoginReport struct {
	Host    string `json:"host"`
	User    string `json:"user"`
	Checked bool   `json:"checked"` // the registry required and accepted it
	Where   string `json:"where"`   // Docker's configuration, and the credential helper if there is one
}

// Login stores a login in Docker's configuration, after the registry has accepted it.
func (c *Client) Login(ctx context.Context, host, user, secret string) (*LoginReport, error) {
	sources, err := c.UserSources()
	if err != nil {
		return nil, err
	}
	checked, err := sources.OCI().CheckLogin(ctx, host, user, secret)
	if err != nil {
		return nil, err
	}
	logins := source.Logins(c.Getenv, c.Paths.Home)
	if err := logins.Put(ctx, host, user, secret); err != nil {
		return nil, err
	}
	return &LoginReport{Host: host, User: user, Checked: checked, Where: logins.Path()}, nil
}

// Logout removes the login for a registry. If there is none, the error has the code [diag.NotFound].
func (c *Client) Logout(ctx context.Context, host string) error {
	return source.Logins(c.Getenv, c.Paths.Home).Delete(ctx, host)
}

// LoginHosts returns the registries with a stored login.
func (c *Client) LoginHosts(ctx context.Context) ([]string, error) {
	return source.Logins(c.Getenv, c.Paths.Home).Hosts(ctx)
}

// attachments returns a function that creates the results of tests and, with a signer, the signature, provenance, and
// SBOM of a release. They are stored before its tags. If there are none, it returns nil.
//
// An existing version keeps what the signer has signed, because each run of a CI system would add another provenance, and
// each certificate another signature. Evaluations are added, because the caller selected them.
func (c *Client) attachments(artifact *releaseArtifact, signer sign.Signer, k *trust.Verifier, ref pack.Ref) func(
	context.Context,
	oci.Pushed, []byte) ([]oci.Artifact, error) {
	if signer == nil && len(artifact.tests) == 0 {
		return nil
	}
	return func(ctx context.Context, subject oci.Pushed, manifest []byte) ([]oci.Artifact, error) {
		var made map[trust.Kind]string
		if signer != nil && subject.Existed {
			var err error
			ref.Digest = subject.Digest
			if made, err = k.Made(ctx, ref, signer); err != nil {
				return nil, err
			}
		}
		_, isKey := signer.(*sign.PrivateKey)
		differs := signer != nil && !isKey // each bundle, even of the same statement
		var all []oci.Artifact
		for _, result := range artifact.tests {
			if differs && result.Agent == "" && made[trust.KindTests] != "" {
				continue
			}
			a, err := trust.TestArtifact(ctx, signer, result, artifact.release.ID.String(), subject.Digest)
			if err != nil {
				return nil, err
			}
			all = append(all, a)
		}
		if signer == nil || differs && made[trust.KindSignature] != "" {
			return all, nil
		}
		provenance := c.provenance(artifact)
		if made[trust.KindProvenance] != "" {
			provenance = nil
		}
		signed, err := trust.Attachments(signer, provenance, trust.SBOMOf(artifact.release, artifact.trees))(ctx,
			subject, manifest)
		return append(all, signed...), err
	}
}

// provenance describes where a release comes from. The repository's data take precedence over the CI system's.
func (c *Client) provenance(artifact *releaseArtifact) *sign.Provenance {
	p := sign.Environment(c.Getenv)
	p.Pack, p.Version = artifact.release.ID.String(), artifact.release.Version
	o := artifact.origin
	if o == nil {
		return &p
	}
	if o.checkout.Commit != p.Commit {
		p.Ref = ""
		if o.checkout.Branch != "" {
			p.Ref = "refs/heads/" + o.checkout.Branch
		}
	}
	p.Commit, p.Dirty = o.checkout.Commit, len(o.dirty) > 0
	p.Repository = cmp.Or(o.checkout.Origin, p.Repository)
	if o.dir != "." {
		p.Directory = o.dir
	}
	return &p
}
