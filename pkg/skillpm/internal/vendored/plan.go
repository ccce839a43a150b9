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

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// State says how a skill's directory compares with the lock.
type State string

// The states of a directory.
const (
	Right    State = "right"    // it is what the lock has
	Missing  State = "missing"  // there is none
	Outdated State = "outdated" // it is what skillpm wrote, and not what the lock has
	Stale    State = "stale"    // it is what skillpm wrote, and the lock has no such skill any more
	Edited   State = "edited"   // somebody changed it, or put it there
)

// Item is one skill of the copy, or of the lock.
type Item struct {
	Pack  pack.ID
	Skill string
	Path  string // of its directory, below the project's root
	Tree  string // the digest that the lock has, "" where it has no such skill
	State State
	What  string // what is wrong with it, where that is known
}

// Plan is the difference between a copy and a lock.
type Plan struct {
	Dir     string // below the project's root
	Items   []Item // by pack and skill
	Files   []string
	Foreign []string // what skillpm did not write; it stays
	Skipped []Skipped

	copy    *Copy
	lock    *pack.Lock
	records []string // of packs that are gone
	put     map[string][]byte
}

// Same reports whether two plans found the same skills in the same states, and the same files.
func (p *Plan) Same(o *Plan) bool {
	return slices.Equal(p.Items, o.Items) && slices.Equal(p.Files, o.Files) && slices.Equal(p.Foreign, o.Foreign)
}

// Skipped is a pack that is not copied.
type Skipped struct {
	Pack pack.ID
	Why  string
}

// Compare finds what has to change so that the copy is what the lock says.
func (c *Copy) Compare(ctx context.Context, lock *pack.Lock) (*Plan, error) {
	p := &Plan{Dir: c.dir, copy: c, lock: lock, put: map[string][]byte{}}
	for _, id := range lock.IDs() {
		entry := lock.Packs[id]
		if why := notCopied(entry.Source); why != "" {
			p.Skipped = append(p.Skipped, Skipped{Pack: id, Why: why})
			continue
		}
		for skill, tree := range entry.Skills {
			p.Items = append(p.Items, Item{
				Pack: id, Skill: skill, Path: path.Join(c.dir, id.String(), skill), Tree: tree,
			})
		}
	}
	if err := p.findOthers(); err != nil {
		return nil, err
	}
	slices.SortFunc(p.Items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	for i := range p.Items {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return c.look(&p.Items[i])
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	p.sortOut()
	return p, p.compareNotes()
}

// notCopied says why a pack of that source is not copied, "" if it is.
func notCopied(locked string) string {
	at, isPath := strings.CutPrefix(locked, "path")
	at = strings.TrimPrefix(at, ":")
	switch {
	case !isPath:
		return ""
	case at != "" && !pathx.Escapes(at):
		return "it is in the project already, at " + at
	default:
		return "it is read from a directory outside the project, which every install needs"
	}
}

// look says how one directory compares.
func (c *Copy) look(it *Item) error {
	known := c.record(it.Pack)
	got, err := c.sum(it.Pack, it.Skill)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		it.State = Missing
	case err != nil:
		it.State, it.What = Edited, c.explain(it.Pack, it.Skill, it.Tree, err).Error()
	case it.Tree != "" && got.Digest() == it.Tree:
		it.State = Right
	case it.Tree == "" && known.wrote(it.Skill, got):
		it.State = Stale
	case known.wrote(it.Skill, got) && known.Skills[it.Skill].Tree != it.Tree:
		it.State = Outdated
	case known.wrote(it.Skill, got):
		it.State, it.What = Outdated, c.check(it.Pack, it.Skill, it.Tree).Error()
	default:
		it.State, it.What = Edited, c.edit(it, known, got)
	}
	return nil
}

// edit says what somebody changed.
func (c *Copy) edit(it *Item, known *record, got bundle.Inventory) string {
	want, ok := known.inventory(it.Skill)
	if !ok {
		return it.Path + " was not written by skillpm vendor"
	}
	name, what := difference(want, got)
	return path.Join(it.Path, name) + " " + what
}

// findOthers adds what is on the disk and not in the lock.
func (p *Plan) findOthers() error {
	wanted := map[string]bool{readmeName: true, attributesName: true}
	for _, it := range p.Items {
		wanted[it.Pack.Owner], wanted[it.Pack.String()], wanted[it.Pack.String()+"/"+it.Skill] = true, true, true
		wanted[it.Pack.String()+"/"+recordName] = true
	}
	owners, err := p.copy.list("")
	if err != nil {
		return err
	}
	for _, owner := range owners {
		names, err := p.copy.list(owner)
		if err != nil || len(names) == 0 && !wanted[owner] {
			p.foreign(wanted, owner)
			continue
		}
		for _, name := range names {
			at := path.Join(owner, name)
			id, err := pack.ParseID(at)
			skills, listErr := p.copy.list(at)
			if err != nil || listErr != nil {
				p.foreign(wanted, at)
				continue
			}
			p.findIn(id, skills, wanted)
		}
	}
	return nil
}

// findIn adds the directories of one pack that the lock does not have.
func (p *Plan) findIn(id pack.ID, names []string, wanted map[string]bool) {
	known := p.copy.record(id)
	for _, name := range names {
		at := path.Join(id.String(), name)
		_, ours := known.Skills[name]
		switch {
		case wanted[at]:
		case name == recordName && known.Pack != "":
			p.records = append(p.records, path.Join(p.Dir, at))
		case ours:
			p.Items = append(p.Items, Item{Pack: id, Skill: name, Path: path.Join(p.Dir, at)})
		default:
			p.foreign(wanted, at)
		}
	}
}

// foreign notes what skillpm did not write.
func (p *Plan) foreign(wanted map[string]bool, name string) {
	if !wanted[name] {
		p.Foreign = append(p.Foreign, path.Join(p.Dir, name))
	}
}

// list returns the names in a directory of the copy, without what systems leave behind. It is an error if it is no
// directory, and there are none if it does not exist.
func (c *Copy) list(name string) ([]string, error) {
	if err := c.plain(name); errors.Is(err, fs.ErrNotExist) {
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

// sortOut takes away what is gone already, and what is no skill that skillpm wrote.
func (p *Plan) sortOut() {
	p.Items = slices.DeleteFunc(p.Items, func(it Item) bool { return it.Tree == "" && it.State == Missing })
	slices.Sort(p.Foreign)
	slices.Sort(p.records)
}

// compareNotes finds the files of skillpm's own that have to be written. One that somebody wrote stays.
func (p *Plan) compareNotes() error {
	if len(p.Items) == 0 && len(p.Foreign) == 0 && !p.copy.Written() {
		return nil
	}
	for name, text := range notes() {
		have, err := p.copy.read(name)
		switch {
		case err == nil && string(have) == text:
		case errors.Is(err, fs.ErrNotExist), err == nil && marked(have):
			p.put[path.Join(p.Dir, name)] = []byte(text)
		case name == attributesName:
			p.Foreign = append(p.Foreign, path.Join(p.Dir, name))
		}
	}
	p.Files = append(p.Files, p.records...)
	for at := range p.put {
		p.Files = append(p.Files, at)
	}
	for _, id := range p.packs() {
		if p.rewrite(id) {
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

// rewrite reports whether the record of a pack is not what it should be.
func (p *Plan) rewrite(id pack.ID) bool {
	entry, known := p.lock.Packs[id], p.copy.record(id)
	if known.Note != recordNote || known.Version != entry.Version || known.Source != entry.Source ||
		known.Resolved != entry.Resolved || len(known.Skills) != len(entry.Skills) {
		return true
	}
	for skill, tree := range entry.Skills {
		if _, ok := known.inventory(skill); !ok || known.Skills[skill].Tree != tree {
			return true
		}
	}
	return false
}

// Clean reports whether the copy is what the lock says.
func (p *Plan) Clean() bool {
	return len(p.Files) == 0 && !slices.ContainsFunc(p.Items, func(it Item) bool { return it.State != Right })
}

// Edited returns what somebody changed, so that it is replaced or removed only when that is asked for.
func (p *Plan) Edited() []Item {
	return slices.DeleteFunc(slices.Clone(p.Items), func(it Item) bool { return it.State != Edited })
}

// Command returns the command that brings a copy to what the lock says.
func Command(edited bool) string {
	if edited {
		return "skillpm vendor --force"
	}
	return "skillpm vendor"
}
