package skillpm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
)

// UpdateOptions says what to update and how.
type UpdateOptions struct {
	Packs    []string // owner/name, required by the manifest or by another pack; none means all
	Latest   bool     // beyond the ranges of the manifest, which are rewritten
	Registry string   // look names up here only, for this call
	Offline  bool     // use no network
	DryRun   bool     // write nothing
	Force    bool     // replace installed skills that were edited; copies of them are kept
	Keep     bool     // leave packs as they are that have edited skills which would be replaced
	Scope    string   // scope.KindProject or scope.KindUser; "" means the project
	Signing  Signing
}

// Update moves packs to the highest versions that the manifest allows, or with Latest to the highest there are. Packs
// that are not named move only where one that is named needs it. What the user chose besides versions stays.
func (c *Client) Update(ctx context.Context, o UpdateOptions) (*InstallReport, error) {
	if o.Keep && o.Force {
		return nil, diag.Errorf(diag.Usage, "--keep and --force exclude each other")
	}
	io := InstallOptions{
		Registry: o.Registry, Offline: o.Offline, DryRun: o.DryRun, Force: o.Force, Keep: o.Keep, Scope: o.Scope,
		Signing: o.Signing, moves: true,
	}
	return c.retry(func() (*InstallReport, error) {
		return keeping(io, func(io InstallOptions) (*InstallReport, error) { return c.update(ctx, o, io) })
	})
}

func (c *Client) update(ctx context.Context, o UpdateOptions, io InstallOptions) (*InstallReport, error) {
	w, err := c.open(ctx, io, false)
	if err != nil {
		return nil, err
	}
	t, err := w.updated(ctx, o, io)
	if err != nil {
		return nil, err
	}
	r, err := w.install(ctx, io, t)
	if err != nil {
		return nil, err
	}
	ids, err := w.named(o.Packs)
	if err != nil {
		return nil, err
	}
	r.HeldBack = w.heldBack(ctx, t, ids, o, io)
	return r, nil
}

// updated works out the manifest and the lock that an update leads to.
func (w *work) updated(ctx context.Context, o UpdateOptions, io InstallOptions) (*target, error) {
	ids, err := w.named(o.Packs)
	if err != nil {
		return nil, err
	}
	m := w.Manifest.Clone()
	if o.Latest {
		if m, err = loosened(m, ids, io.held); err != nil {
			return nil, err
		}
	}
	lost := map[pack.ID]error{}
	if io.goesOn || o.Offline {
		lost = w.unreached(ctx, ids, w.askedFor(m))
	}
	if !io.goesOn && len(lost) > 0 && len(lost) == len(ids) { // there is nothing to update
		return nil, lost[unreachedIDs(lost)[0]]
	}
	held := slices.Concat(io.held, unreachedIDs(lost))
	if o.Latest && len(lost) > 0 {
		if m, err = loosened(w.Manifest, ids, held); err != nil {
			return nil, err
		}
	}
	t := &target{manifest: w.Manifest.Clone(), unreached: unreachedIDs(lost)}
	if t.Solution, err = w.moved(ctx, m, w.free(ids, held)); err != nil {
		return nil, err
	}
	t.Warnings = append(t.Warnings, w.unreachedWarnings(lost)...)
	if o.Latest {
		err = w.narrowed(ctx, m, t, ids)
	}
	return t, err
}

// named reads the names of packs to update; without any it returns all that are required or locked.
func (w *work) named(names []string) ([]pack.ID, error) {
	known := map[pack.ID]bool{}
	for id := range w.Lock.Packs {
		known[id] = true
	}
	for _, d := range slices.Concat(w.Manifest.Dependencies, w.Manifest.DevDependencies) {
		known[d.ID] = true
	}
	if len(names) == 0 {
		return slices.SortedFunc(maps.Keys(known), pack.ID.Compare), nil
	}
	var ids []pack.ID
	for _, name := range names {
		id, err := w.packNamed(name)
		if err != nil {
			return nil, err
		}
		if !known[id] {
			return nil, notDependency(id, known)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// packNamed reads owner/name. Whoever wrote something else gets to know what to write.
func (w *work) packNamed(name string) (pack.ID, error) {
	if bare, version, ok := strings.Cut(name, "@"); ok {
		return pack.ID{}, diag.Errorf(diag.Usage, "%s: an update takes names of packs, without versions", name).
			WithHint("skillpm install '%s@%s' moves a pack to a version or range", bare, version)
	}
	id, err := pack.ParseID(name)
	if err == nil {
		return id, nil
	}
	for _, pk := range w.Lock.IDs() {
		if _, ok := w.Lock.Packs[pk].Skills[name]; ok {
			return id, diag.Errorf(diag.Usage, "%s is a skill; packs are updated", name).WithHint("it is of %s", pk)
		}
	}
	if ref, placeErr := pack.Parse(name); placeErr == nil && ref.Kind != pack.KindName {
		return id, diag.Errorf(diag.Usage, "%s is a place; an update takes names of packs", name).
			WithHint("skillpm list shows the names")
	}
	return id, err
}

// notDependency is the error for a pack that nothing here requires.
func notDependency(id pack.ID, known map[pack.ID]bool) error {
	err := diag.Errorf(diag.NotFound, "%s is required neither by skillpm.yaml nor by an installed pack", id)
	var have []string
	for k := range known {
		have = append(have, k.String())
	}
	slices.Sort(have)
	if near := diag.Nearest(id.String(), have); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("skillpm list shows what is installed, skillpm install %s adds it", id)
}

// free has the lock not hold back packs, except those that are held, and returns them.
func (w *work) free(ids, held []pack.ID) map[pack.ID]bool {
	free := map[pack.ID]bool{}
	for _, id := range ids {
		if _, locked := w.Lock.Packs[id]; locked && !slices.Contains(held, id) {
			w.Backend.Free(id)
			free[id] = true
		}
	}
	return free
}

// moved solves a manifest with some packs free. Those that can't move, or could only go back, stay where they are
// locked.
func (w *work) moved(ctx context.Context, m *pack.Manifest, free map[pack.ID]bool) (*solve.Solution, error) {
	for {
		sol, err := w.Backend.Lock(ctx, m)
		var lock *pack.Lock
		if err == nil {
			lock = sol.Lock
		}
		if !w.settle(free, err, func(id pack.ID) string {
			if p := lock.Packs[id]; p != nil {
				return p.Version
			}
			return ""
		}) {
			return sol, err
		}
	}
}

// settle takes those packs out of the free ones that a conflict is about or, where there is none, that would go back to
// an earlier version than the one they have. It returns whether there are any.
func (w *work) settle(free map[pack.ID]bool, err error, version func(pack.ID) string) bool {
	conflict, ok := errors.AsType[*resolve.ConflictError](err)
	if err != nil && !ok {
		return false
	}
	found := false
	stay := func(id pack.ID) {
		if free[id] {
			w.Backend.Unfree(id)
			delete(free, id)
			found = true
		}
	}
	if ok {
		for _, d := range conflict.Disputes {
			stay(d.Pack)
		}
		return found
	}
	for id := range maps.Clone(free) {
		if w.wouldGoBack(id, version(id)) {
			stay(id)
		}
	}
	return found
}

// wouldGoBack reports whether a version is a lower release than the locked one, which its registry still offers, or
// which a policy lets nothing older replace.
func (w *work) wouldGoBack(id pack.ID, version string) bool {
	was := w.Lock.Packs[id].Version
	if o, ok := w.Backend.Offer(id, was); ok && o.Yanked && !w.Admission.ForbidsDowngrades() {
		return false
	}
	return higher(was, version)
}

// pinned reports whether a version stands for a commit or a digest, so that there is no order between two.
func pinned(version string) bool { return strings.HasPrefix(version, "0.0.0-") }

// anyRelease is the range that a requirement has while the latest version is looked for.
const anyRelease = ">=0.0.0"

// loosened returns a manifest whose requirements of some packs allow every release. Ranges give way, and tags of
// releases; a digest gives way where a tag or branch says what is to be had.
func loosened(m *pack.Manifest, ids, held []pack.ID) (*pack.Manifest, error) {
	loose := m.Clone()
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		if !slices.Contains(ids, d.ID) || slices.Contains(held, d.ID) {
			continue
		}
		if d.Ref != nil {
			ref := *d.Ref
			d.Ref = &ref
			switch {
			case ref.Kind == pack.KindPath, ref.Rev == "" && ref.Digest != "":
				continue
			case ref.Rev == "":
			case releaseTag(d):
				d.Ref.Rev, d.Ref.Digest = "", ""
			default:
				d.Ref.Digest = ""
				if err := loose.SetDependency(d); err != nil {
					return nil, err
				}
				continue
			}
		}
		d.Constraint = anyRelease
		if err := loose.SetDependency(d); err != nil {
			return nil, err
		}
	}
	return loose, nil
}

// releaseTag reports whether a requirement names the tag of a release.
func releaseTag(d pack.Dependency) bool {
	_, ok := pack.VersionFromTag(d.Ref.Rev, d.ID.Name)
	return ok
}

// narrowed writes the requirements of the target's manifest so that they allow what was found, each in the form it has:
// a tag stays a tag, a digest a digest, one version one version, a tilde a tilde. What allows it already is left alone.
func (w *work) narrowed(ctx context.Context, loose *pack.Manifest, t *target, ids []pack.ID) error {
	for _, d := range slices.Concat(w.Manifest.Dependencies, w.Manifest.DevDependencies) {
		found, ok := t.Lock.Packs[d.ID]
		now, _ := loose.Dependency(d.ID)
		if !ok || !slices.Contains(ids, d.ID) || same(d, now) {
			continue
		}
		next := d
		if d.Ref != nil && d.Ref.Rev != "" {
			ref, err := w.Backend.Locate(ctx, now, found.Version)
			if err != nil {
				return err
			}
			moved := *d.Ref
			next.Ref = &moved
			if releaseTag(d) && found.Version != w.lockedVersion(d.ID) {
				moved.Rev = ref.Rev
			}
			if d.Ref.Digest != "" {
				moved.Digest = ref.Digest
			}
			if moved == *d.Ref {
				continue
			}
		} else if fits, err := pack.Allows(d, found.Version); err == nil && fits {
			continue
		} else {
			next.Constraint = inForm(d.Constraint, found.Version)
		}
		if err := t.manifest.SetDependency(next); err != nil {
			return err
		}
	}
	return nil
}

// same reports whether two requirements ask for the same.
func same(a, b pack.Dependency) bool {
	if (a.Ref == nil) != (b.Ref == nil) || a.Constraint != b.Constraint {
		return false
	}
	return a.Ref == nil || *a.Ref == *b.Ref
}

// lockedVersion returns the version that a pack is locked to, "" if it is not.
func (w *work) lockedVersion(id pack.ID) string {
	if p, ok := w.Lock.Packs[id]; ok {
		return p.Version
	}
	return ""
}

var oneVersion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^\s*(=?)\s*v?\d+\.\d+\.\d+[-+.0-9A-Za-z]*\s*$`)
})

// inForm writes a range of the form that another has: one version, a tilde, or else a caret.
func inForm(constraint, version string) string {
	if found := oneVersion().FindStringSubmatch(constraint); found != nil {
		return found[1] + version
	}
	if trimmed := strings.TrimSpace(constraint); strings.HasPrefix(trimmed, "~") &&
		!strings.ContainsAny(trimmed, " ,|") {
		return "~" + version
	}
	return "^" + version
}

// unreached returns the locked packs whose registry or place can't be asked now, with the reason. They stay where they
// are locked.
func (w *work) unreached(ctx context.Context, ids []pack.ID, asked map[pack.ID]pack.Dependency) map[pack.ID]error {
	var wanted []pack.Dependency
	for _, id := range ids {
		if d, ok := asked[id]; ok && w.Lock.Packs[id] != nil {
			wanted = append(wanted, d)
		}
	}
	w.Backend.Prefetch(ctx, wanted)
	lost := map[pack.ID]error{}
	for _, d := range wanted {
		if _, err := w.Backend.Offered(ctx, d); diag.CodeOf(err) == diag.Remote && ctx.Err() == nil {
			lost[d.ID] = err
			w.Backend.Hold(d.ID)
		}
	}
	return lost
}

// askedFor is asked with what a manifest requires as it stands there.
func (w *work) askedFor(m *pack.Manifest) map[pack.ID]pack.Dependency {
	asked := w.asked()
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		asked[d.ID] = pack.Dependency{ID: d.ID, Ref: d.Ref}
	}
	return asked
}

// unreachedIDs returns the packs of a map, sorted.
func unreachedIDs(lost map[pack.ID]error) []pack.ID {
	return slices.SortedFunc(maps.Keys(lost), pack.ID.Compare)
}

// unreachedWarnings says of packs that could not be asked about where they stay, and why.
func (w *work) unreachedWarnings(lost map[pack.ID]error) []string {
	var list []string
	for _, id := range unreachedIDs(lost) {
		list = append(list, fmt.Sprintf("%s stays at %s, because nobody could be asked: %v",
			id, w.lockedVersion(id), lost[id]))
	}
	return list
}
