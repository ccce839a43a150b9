package vendored

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// State describes how a copied skill compares with the lockfile.
type State string

// The states of a directory.
const (
	Current  State = "right"    // it matches the lockfile
	Missing  State = "missing"  // it does not exist
	Outdated State = "outdated" // unedited, but the lockfile has another version
	Stale    State = "stale"    // unedited, but the lockfile does not have the skill
	Edited   State = "edited"   // it has local edits, or skillpm did not create it
)

// Item is one skill of the copy, or of the lockfile.
type Item struct {
	Pack  pack.ID
	Skill string
	Path  string // of its directory, below the project's root
	Tree  string // the digest in the lockfile, "" if it does not have the skill
	State State
	What  string // what is wrong with it, if known
}

// Plan is the difference between a copy and a lockfile.
type Plan struct {
	Dir     string // below the project's root
	Items   []Item // by pack and skill
	Files   []string
	Foreign []string // files that skillpm did not create; they stay
	Skipped []Skipped

	copy    *Copy
	lock    *pack.Lock
	records []string // of packs that the lockfile does not have
	files   map[string][]byte
}

// Same reports whether two plans have the same skills in the same states, and the same files.
func (p *Plan) Same(o *Plan) bool {
	return slices.Equal(p.Items, o.Items) && slices.Equal(p.Files, o.Files) && slices.Equal(p.Foreign, o.Foreign)
}

// Skipped is a pack that is not copied.
type Skipped struct {
	Pack pack.ID
	Why  string
}

// Compare computes what has to change so that the copy matches the lockfile.
func (c *Copy) Compare(ctx context.Context, lock *pack.Lock) (*Plan, error) {
	p := &Plan{Dir: c.dir, copy: c, lock: lock, files: map[string][]byte{}}
	for _, id := range lock.IDs() {
		locked := lock.Packs[id]
		if why := whyNotCopied(locked.Source); why != "" {
			p.Skipped = append(p.Skipped, Skipped{Pack: id, Why: why})
			continue
		}
		for skill, tree := range locked.Skills {
			p.Items = append(p.Items, Item{
				Pack: id, Skill: skill, Path: path.Join(c.dir, id.String(), skill), Tree: tree,
			})
		}
	}
	if err := p.findUnlisted(); err != nil {
		return nil, err
	}
	slices.SortFunc(p.Items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	group, ctx := bug.WithContext(ctx)
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	for i := range p.Items {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return c.compareItem(&p.Items[i])
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	p.finishItems()
	return p, p.compareNotes()
}

// whyNotCopied returns why a pack of that locked source is not copied, "" if it is.
func whyNotCopied(locked string) string {
	at, isPath := strings.CutPrefix(locked, "path")
	at = strings.TrimPrefix(at, ":")
	switch {
	case !isPath:
		return ""
	case at != "" && !pathx.Escapes(at):
		return "the pack is already in the project at " + at
	default:
		return "every install reads the pack from a directory outside the project"
	}
}

// compareItem compares the directory of one skill.
func (c *Copy) compareItem(it *Item) error {
	known := c.record(it.Pack)
	got, err := c.sum(it.Pack, it.Skill)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		it.State = Missing
	case err != nil:
		it.State, it.What = Edited, c.readError(it.Pack, it.Skill, it.Tree, err).Error()
	case it.Tree != "" && got.Digest() == it.Tree:
		it.State = Current
	case it.Tree == "" && known.isUnedited(it.Skill, got):
		it.State = Stale
	case known.isUnedited(it.Skill, got) && known.Skills[it.Skill].Tree != it.Tree:
		it.State = Outdated
	case known.isUnedited(it.Skill, got):
		it.State, it.What = Outdated, c.check(it.Pack, it.Skill, it.Tree).Error()
	default:
		it.State, it.What = Edited, c.describeEdit(it, known, got)
	}
	return nil
}

// describeEdit says what the local edit of a skill is.
func (c *Copy) describeEdit(it *Item, known *record, got bundle.Inventory) string {
	want, ok := known.inventory(it.Skill)
	if !ok {
		return "skillpm vendor did not create " + it.Path
	}
	name, what := difference(want, got)
	return path.Join(it.Path, name) + " " + what
}

// findUnlisted adds what the copy has and the lockfile does not.
func (p *Plan) findUnlisted() error {
	expected := map[string]bool{readmeName: true, attributesName: true}
	for _, it := range p.Items {
		expected[it.Pack.Owner], expected[it.Pack.String()], expected[it.Pack.String()+"/"+it.Skill] = true, true, true
		expected[it.Pack.String()+"/"+recordName] = true
	}
	owners, err := p.copy.list("")
	if err != nil {
		return err
	}
	for _, owner := range owners {
		names, err := p.copy.list(owner)
		if err != nil || len(names) == 0 && !expected[owner] {
			p.addForeign(expected, owner)
			continue
		}
		for _, name := range names {
			at := path.Join(owner, name)
			id, err := pack.ParseID(at)
			skills, listErr := p.copy.list(at)
			if err != nil || listErr != nil {
				p.addForeign(expected, at)
				continue
			}
			p.findIn(id, skills, expected)
		}
	}
	return nil
}

// findIn adds the directories of one pack that the lockfile does not have.
func (p *Plan) findIn(id pack.ID, names []string, expected map[string]bool) {
	known := p.copy.record(id)
	for _, name := range names {
		at := path.Join(id.String(), name)
		_, ours := known.Skills[name]
		switch {
		case expected[at]:
		case name == recordName && known.Pack != "":
			p.records = append(p.records, path.Join(p.Dir, at))
		case ours:
			p.Items = append(p.Items, Item{Pack: id, Skill: name, Path: path.Join(p.Dir, at)})
		default:
			p.addForeign(expected, at)
		}
	}
}

// addForeign adds a file that skillpm did not create.
func (p *Plan) addForeign(expected map[string]bool, name string) {
	if !expected[name] {
		p.Foreign = append(p.Foreign, path.Join(p.Dir, name))
	}
}

// list returns the names in a directory of the copy, without files that systems create. A missing directory has none.
func (c *Copy) list(name string) ([]string, error) {
	if err := c.checkDirs(name); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(c.root, filepath.FromSlash(path.Join(c.dir, name))))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !bundle.Ignored(e.Name(), e.IsDir()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// finishItems drops skills that exist neither in the copy nor in the lockfile, and sorts.
func (p *Plan) finishItems() {
	p.Items = slices.DeleteFunc(p.Items, func(it Item) bool { return it.Tree == "" && it.State == Missing })
	slices.Sort(p.Foreign)
	slices.Sort(p.records)
}

// compareNotes finds the notes and records that have to be written. Files that skillpm did not create stay.
func (p *Plan) compareNotes() error {
	if len(p.Items) == 0 && len(p.Foreign) == 0 && !p.copy.Exists() {
		return nil
	}
	for name, text := range notes() {
		have, err := p.copy.read(name)
		switch {
		case err == nil && string(have) == text:
		case errors.Is(err, fs.ErrNotExist), err == nil && hasMark(have):
			p.files[path.Join(p.Dir, name)] = []byte(text)
		case name == attributesName:
			p.Foreign = append(p.Foreign, path.Join(p.Dir, name))
		}
	}
	p.Files = append(p.Files, p.records...)
	for at := range p.files {
		p.Files = append(p.Files, at)
	}
	for _, id := range p.packs() {
		if p.recordOutdated(id) {
			p.Files = append(p.Files, path.Join(p.Dir, id.String(), recordName))
		}
	}
	slices.Sort(p.Files)
	return nil
}

// packs returns the packs that the copy should have.
func (p *Plan) packs() []pack.ID {
	var ids []pack.ID
	for _, it := range p.Items {
		if it.Tree != "" && !slices.Contains(ids, it.Pack) {
			ids = append(ids, it.Pack)
		}
	}
	return ids
}

// recordOutdated reports whether the record of a pack has to be written again.
func (p *Plan) recordOutdated(id pack.ID) bool {
	locked, known := p.lock.Packs[id], p.copy.record(id)
	if known.Note != recordNote || known.Version != locked.Version || known.Source != locked.Source ||
		known.Resolved != locked.Resolved || len(known.Skills) != len(locked.Skills) {
		return true
	}
	for skill, tree := range locked.Skills {
		if _, ok := known.inventory(skill); !ok || known.Skills[skill].Tree != tree {
			return true
		}
	}
	return false
}

// Clean reports whether the copy matches the lockfile.
func (p *Plan) Clean() bool {
	return len(p.Files) == 0 && !slices.ContainsFunc(p.Items, func(it Item) bool { return it.State != Current })
}

// Edited returns the skills with local edits, which only force replaces or removes.
func (p *Plan) Edited() []Item {
	return slices.DeleteFunc(slices.Clone(p.Items), func(it Item) bool { return it.State != Edited })
}

// Command returns the command that updates a copy.
func Command(edited bool) string {
	if edited {
		return "skillpm vendor --force"
	}
	return "skillpm vendor"
}
