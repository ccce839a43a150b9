package trust

import (
	"context"
	"encoding/json"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// Origin checks that trees come from the source that a pack is pinned to, whoever signed it; a lockfile does not prove
// that. The source itself must have sent the manifest to this machine, now or earlier. For git, and for artifacts of
// other tools, this machine must have fetched the trees itself; otherwise the error is an [UnknownTreesError].
func (k *Verifier) Origin(ctx context.Context, p *pack.Pack, trees map[string]string) error {
	switch p.Ref.Kind {
	case pack.KindPath:
		return nil
	case pack.KindGit, pack.KindWebsite, pack.KindClawHub, pack.KindAPM:
		return k.checkRecordedTrees(p, trees)
	}
	e, err := k.cachedEvidence(p.Ref.Digest)
	if known := err == nil; !known || !k.hasOrigin(p) {
		if k.options.Offline && p.Ref.Kind == pack.KindOCI {
			return diag.Errorf(diag.Remote,
				"%s: the OCI manifest from %s is not cached, and skillpm is offline", nameOf(p),
				p.Ref.Source()).
				WithHint("run the command without --offline")
		}
		raw, _, err := k.options.OCI.Manifest(ctx, p.Ref)
		if err != nil {
			return err
		}
		if e = (&evidence{Manifest: raw}); !known {
			k.cacheEvidence(p.Ref.Digest, e)
		}
		k.recordOrigin(p)
	}
	return k.checkTrees(e.Manifest, p, trees)
}

// originFile returns the file that records that a manifest came from the source that a pack is pinned to.
func (k *Verifier) originFile(p *pack.Pack) (string, error) {
	return entryFile(k.options.State, textx.SHA256("origin "+sourceKey(p)))
}

// recordOrigin records that the manifest which a pack is pinned to came from the pack's source. The cache cannot prove
// that, because its key is only the digest.
func (k *Verifier) recordOrigin(p *pack.Pack) {
	if file, err := k.originFile(p); err == nil && p.Ref.Kind == pack.KindOCI && !k.hasOrigin(p) {
		_ = writeJSON(file, record{Source: sourceKey(p)})
	}
}

// hasOrigin reports whether the origin is recorded. Sources on this machine can be read again and need no record.
func (k *Verifier) hasOrigin(p *pack.Pack) bool {
	file, err := k.originFile(p)
	if err != nil || p.Ref.Kind != pack.KindOCI {
		return false
	}
	var r record
	return readJSON(file, &r) == nil && r.Source == sourceKey(p)
}

// packName is the pack name and version that a manifest states.
type packName struct{ Name, Version string }

// packNameOf returns the name that a manifest states, or nil.
func packNameOf(manifest []byte, p *pack.Pack) (*packName, error) {
	var m struct {
		Annotations map[string]string `json:"annotations"`
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		return nil, diag.Errorf(diag.Integrity, "the OCI manifest of %s is not JSON", nameOf(p))
	}
	text, ok := m.Annotations[oci.AnnotationPack]
	if !ok {
		text, ok = m.Annotations[oci.AnnotationList]
	}
	if !ok {
		return nil, nil
	}
	var subject packName
	if err := json.Unmarshal([]byte(text), &subject); err != nil {
		return nil, diag.Errorf(diag.Integrity, "the pack's configuration in the OCI manifest of %s is not JSON",
			nameOf(p))
	}
	return &subject, nil
}

// checkName checks that the name that a manifest states is the pack's. The content of an older version under a newer
// version's number is a replay.
func checkName(manifest []byte, p *pack.Pack) error {
	subject, err := packNameOf(manifest, p)
	if err != nil || subject == nil {
		return err
	}
	if p.ID.IsZero() || p.Version == "" || subject.Name == p.ID.String() && subject.Version == p.Version {
		return nil
	}
	return diag.Errorf(diag.Integrity, "the source of %s contains %s@%s", nameOf(p), subject.Name, subject.Version).
		WithHint("if you edited skillpm.lock, restore the file from version control; " +
			"otherwise ask the publisher why the name or version differs")
}
