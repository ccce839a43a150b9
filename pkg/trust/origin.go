package trust

import (
	"context"
	"encoding/json"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
)

// Origin checks that trees are those of the place that a pack is pinned to, whoever signed it: what a lock says of that
// proves nothing. Of git, and of artifacts that other tools wrote, this machine must have fetched them itself, else it is an
// [UnknownTreesError].
func (k *Keeper) Origin(ctx context.Context, p *source.Pack, trees map[string]string) error {
	switch p.Ref.Kind {
	case source.KindPath:
		return nil
	case source.KindGit:
		return k.recorded(p, trees)
	}
	e, err := k.cached(p.Ref.Digest)
	if err != nil {
		if k.options.Offline && p.Ref.Kind == source.KindOCI {
			return diag.Errorf(diag.Remote, "%s: its manifest is not on this machine, and no server is asked", nameOf(p)).
				WithHint("run the command once without --offline")
		}
		raw, _, err := k.options.OCI.Manifest(ctx, p.Ref)
		if err != nil {
			return err
		}
		e = &evidence{Manifest: raw}
		k.keep(p.Ref.Digest, e)
	}
	return k.linked(e.Manifest, p, trees)
}

// calledSo checks that a manifest which says whose it is calls itself as the pack is called: the content of an older version
// under the number of a newer one is a replay.
func calledSo(manifest []byte, p *source.Pack) error {
	var m struct {
		Annotations map[string]string `json:"annotations"`
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		return diag.Errorf(diag.Integrity, "the manifest of %s is not JSON", nameOf(p))
	}
	var says struct{ Name, Version string }
	text, ok := m.Annotations["io.skillpm.pack.v1"]
	if !ok {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &says); err != nil {
		return diag.Errorf(diag.Integrity, "what the manifest of %s says of the pack is not JSON", nameOf(p))
	}
	if p.ID.IsZero() || p.Version == "" || says.Name == p.ID.String() && says.Version == p.Version {
		return nil
	}
	return diag.Errorf(diag.Integrity, "%s is %s@%s as it was published", nameOf(p), says.Name, says.Version).
		WithHint("an older version stands under a newer number: ask the publisher, and restore skillpm.lock from version control if that says so")
}
