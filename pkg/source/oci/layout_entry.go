package oci

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// layoutEntry is a version in a layout's index.json. skillpm names it owner/name:version. Other tools, such as
// "oras cp --to-oci-layout", name it by its tag or not at all; then the manifest states the pack, and an artifact of
// another tool is the pack of its directory, as at a path.
type layoutEntry struct {
	id      pack.ID
	tag     string // "" if index.json does not name the entry
	version string // that the manifest states; "" for reference names of skillpm, and artifacts of other tools
	named   bool   // the manifest or the reference name has the pack's name
	desc    ocispec.Descriptor
}

// is reports whether a tag or a version names the entry.
func (e layoutEntry) is(ref string) bool { return ref != "" && (e.tag == ref || e.version == ref) }

// entries returns the versions of all packs in the layout, in the order of index.json.
func (l *layout) entries() ([]layoutEntry, error) {
	idx, err := l.index()
	if err != nil {
		return nil, err
	}
	var all []layoutEntry
	var others []ocispec.Descriptor // their manifests state what they are
	for _, d := range idx.Manifests {
		name := d.Annotations[ocispec.AnnotationRefName]
		owner, tag, qualified := strings.Cut(name, ":")
		if id, err := pack.ParseID(owner); qualified && err == nil {
			all = append(all, layoutEntry{id: id, tag: tag, named: true, desc: d})
		} else if !strings.ContainsAny(name, ":/") && d.Annotations[annotationSubject] == "" {
			others = append(others, d)
		}
	}
	return append(all, l.statedEntries(others[:min(len(others), maxMembers)])...), nil
}

// statedEntries reads manifests without the name of a pack in index.json. It skips those that are no versions: members
// of an index, referrers, and what cannot be read, which is an error only if it is opened.
func (l *layout) statedEntries(manifests []ocispec.Descriptor) (all []layoutEntry) {
	members := map[digest.Digest]bool{}
	for _, d := range manifests {
		a, err := l.parse(d)
		if err != nil {
			continue
		}
		for _, m := range a.members {
			members[m.Digest] = true
		}
		e := layoutEntry{id: l.defaultID(), tag: d.Annotations[ocispec.AnnotationRefName], desc: d}
		if a.info != nil {
			id, err := pack.ParseID(a.info.Name)
			if err != nil {
				continue
			}
			e.id, e.version, e.named = id, a.info.Version, true
		}
		if e.tag != "" || e.named && a.manifest.Subject == nil {
			all = append(all, e)
		}
	}
	return slices.DeleteFunc(all, func(e layoutEntry) bool { return e.tag == "" && members[e.desc.Digest] })
}

func (l *layout) parse(d ocispec.Descriptor) (*artifact, error) {
	if err := checkDescriptor(d); err != nil {
		return nil, err
	}
	doc, err := l.read(d)
	if err != nil {
		return nil, err
	}
	return parseArtifact(doc)
}

// defaultID is the name of a pack that nothing names.
func (l *layout) defaultID() pack.ID {
	id, _ := pack.Ref{Kind: pack.KindPath, URL: filepath.ToSlash(l.dir)}.DefaultID()
	return id
}

// selected returns the entries of the pack that the layout was opened for. Without a name, it must contain one pack;
// entries that index.json names by tag alone come first, because that is how a copy of one repository looks.
func (l *layout) selected() ([]layoutEntry, error) {
	all, err := l.entries()
	if err != nil {
		return nil, err
	}
	if l.id.IsZero() {
		if tagged := slices.DeleteFunc(slices.Clone(all), layoutEntry.isQualified); len(tagged) > 0 {
			all = tagged
		}
		if ids := packIDs(all); len(ids) > 1 {
			return nil, l.severalPacks(ids)
		}
		return all, nil
	}
	return slices.DeleteFunc(all, func(e layoutEntry) bool {
		return e.id != l.id && (e.isQualified() || !isReservedTag(e.tag))
	}), nil
}

// isQualified reports whether index.json has the name of the pack.
func (e layoutEntry) isQualified() bool { return e.named && e.version == "" }

func packIDs(entries []layoutEntry) []pack.ID {
	ids := map[pack.ID]bool{}
	for _, e := range entries {
		if !isReservedTag(e.tag) {
			ids[e.id] = true
		}
	}
	return slices.SortedFunc(maps.Keys(ids), pack.ID.Compare)
}

func (l *layout) severalPacks(ids []pack.ID) error {
	const maxNamed = 3
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.String()
	}
	return diag.Errorf(diag.NotFound, "%s contains several packs: %s", l.title, textx.FirstAndMore(names, maxNamed)).
		WithHint("choose a pack with oci-layout:DIR//%s", ids[0])
}

// findEntry returns the entry that a tag or a version names. Two artifacts with one version are an error.
func (l *layout) findEntry(ref string) (ocispec.Descriptor, error) {
	entries, err := l.selected()
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	var found *layoutEntry
	for i, e := range entries {
		switch {
		case !e.is(ref):
		case e.tag == ref:
			return e.desc, checkDescriptor(e.desc)
		case found != nil && found.desc.Digest != e.desc.Digest:
			return ocispec.Descriptor{}, diag.Errorf(diag.Conflict, "%s contains two artifacts of %s %s: %s and %s",
				l.title, e.id, ref, found.desc.Digest, e.desc.Digest).
				WithHint("choose one with oci-layout:DIR//%s@DIGEST", e.id)
		default:
			found = &entries[i]
		}
	}
	if found == nil {
		return ocispec.Descriptor{}, l.notFound(ref)
	}
	return found.desc, checkDescriptor(found.desc)
}

// LayoutPack is a pack in a layout.
type LayoutPack struct {
	ID    pack.ID
	Named bool // the layout names the pack; otherwise another tool wrote it, and ID is derived from the directory
}

// packs returns the packs that have a version, sorted.
func (l *layout) packs() ([]LayoutPack, error) {
	entries, err := l.entries()
	if err != nil {
		return nil, err
	}
	named := map[pack.ID]bool{}
	for _, e := range entries {
		if _, ok := pack.VersionFromTag(e.tag, ""); ok || e.version != "" {
			named[e.id] = named[e.id] || e.named
		}
	}
	list := make([]LayoutPack, 0, len(named))
	for _, id := range slices.SortedFunc(maps.Keys(named), pack.ID.Compare) {
		list = append(list, LayoutPack{id, named[id]})
	}
	return list, nil
}
