package connect

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// fileEdit is a change of a file.
type fileEdit struct {
	env  Env
	plan plan
	now  fileState
	all  records
	key  string

	after      []byte
	deleted    bool // delete the file
	log        record
	keepRecord bool // keep the record of the installation
}

// install computes the file with the wanted entries.
func (d *fileEdit) install(o Options) error {
	doc, values, err := d.read(d.now.data)
	if err != nil {
		return err
	}
	d.plan.keepChoices(values, o)
	state, why := d.plan.state(values)
	if state == Installed && d.now.exists {
		d.after = d.now.data
		d.remember(d.all.Files[d.key])
		return nil
	}
	if state == Foreign && !o.Force {
		return diag.Errorf(diag.Conflict, "%s: %s", d.now.path, why).
			WithHint("%s, or replace it with --force", d.removal())
	}
	old := d.all.Files[d.key]
	base, exact := old.original(d.now)
	if exact {
		if doc, values, err = d.read(base); err != nil {
			return err
		}
	} else {
		old.Created = old.Created || !d.now.exists
	}
	if err := d.plan.install(doc); err != nil {
		return d.notEditable(err)
	}
	if err := d.verify(doc, values, true); err != nil {
		return err
	}
	d.after = doc.bytes()
	log := record{Created: old.Created, Dirs: old.Dirs}
	if exact || state == Missing { // otherwise the entries are not skillpm's, and removal is not exact
		before := d.now.data
		if exact {
			before = base
		}
		log.Before, log.After, log.Splices = textx.SHA256(before), textx.SHA256(d.after), doc.splices()
	}
	d.remember(log)
	return nil
}

// remember records what install did to a file, if removal needs it.
func (d *fileEdit) remember(log record) {
	log.Program = ""
	if !isNamed(d.plan.program) {
		log.Program = d.plan.program
	}
	d.log, d.keepRecord = log, log.Before != "" || log.Created || log.Program != ""
}

// remove computes the file without skillpm's entries.
func (d *fileEdit) remove() error {
	d.after = d.now.data
	if !d.now.exists {
		d.deleted = true
		return nil
	}
	doc, values, err := d.read(d.now.data)
	if err != nil {
		return err
	}
	state, why := d.plan.state(values)
	if state == Foreign {
		return diag.Errorf(diag.Conflict, "%s: %s", d.now.path, why).
			WithHint("%s yourself", d.removal())
	}
	d.log = d.all.Files[d.key]
	if base, ok := d.log.original(d.now); ok {
		d.after, d.deleted = base, d.log.Created && len(base) == 0
		return nil
	}
	if state == Missing {
		return nil
	}
	if err := d.plan.remove(doc); err != nil {
		return d.notEditable(err)
	}
	if err := d.verify(doc, values, false); err != nil {
		return err
	}
	d.after = doc.bytes()
	d.deleted = (d.log.Created || d.plan.agent.plugin && d.plan.kind == Hook) && doc.empty()
	if d.log.Created && !d.deleted {
		d.resolveDrift(d.now.real, d.log)
	}
	return nil
}

// removal is the instruction to remove another program's entry.
func (d *fileEdit) removal() string {
	if d.plan.kind == Hook {
		return "remove the file"
	}
	return "remove the server from the file"
}

// resolveDrift leaves the removal of the file to the other kind of entry that install wrote into it.
func (d *fileEdit) resolveDrift(file string, log record) {
	for _, kind := range []Kind{Hook, MCP} {
		key := recordKey(kind, file)
		if other, ok := d.all.Files[key]; ok && key != d.key {
			other.Created, other.Dirs = true, log.Dirs
			d.all.Files[key] = other
		}
	}
}

func (d *fileEdit) read(data []byte) (document, map[string]any, error) {
	doc, err := open(d.plan.target.format(), data)
	var values map[string]any
	if err == nil {
		values, err = doc.values()
	}
	if err != nil {
		return nil, nil, diag.Errorf(diag.Invalid, "%s is not valid %s: %v", d.now.path, d.plan.target.format(), err).
			WithHint("fix the file; skillpm did not change anything")
	}
	return doc, values, nil
}

// notEditable returns the error for a file that is valid but cannot be edited automatically.
func (d *fileEdit) notEditable(err error) error {
	return diag.Errorf(diag.Invalid, "cannot edit %s automatically: %v", d.now.path, err).
		WithHint("edit the file yourself; skillpm did not change anything")
}

// verify parses the new file and compares it with the intention: skillpm's entries are present or absent, and every
// other entry is unchanged.
func (d *fileEdit) verify(doc document, before map[string]any, install bool) error {
	_, values, err := d.read(doc.bytes())
	if err != nil {
		return d.notEditable(errors.New("the result would be invalid"))
	}
	state, why := d.plan.state(values)
	if install != (state == Installed) || !install && state != Missing {
		return d.notEditable(fmt.Errorf("the result would not be correct: %s", cmp.Or(why, "the entry is "+string(state))))
	}
	if !same(d.plan.others(before), d.plan.others(values)) {
		return d.notEditable(errors.New("the edit would change entries that skillpm did not create"))
	}
	return nil
}

func (d *fileEdit) changed() bool {
	return d.deleted == d.now.exists || !d.deleted && string(d.after) != string(d.now.data)
}

func (d *fileEdit) diff() string {
	after := d.after
	if d.deleted {
		after = nil
	}
	return textdiff.Unified(filepath.ToSlash(d.now.path), filepath.ToSlash(d.now.path), d.now.data, after)
}

// write replaces the file and saves the record.
func (d *fileEdit) write() error {
	if d.changed() {
		if err := d.writeText(); err != nil {
			return err
		}
	}
	before, had := d.all.Files[d.key]
	if d.keepRecord {
		d.all.Files[d.key] = d.log
	} else {
		delete(d.all.Files, d.key)
	}
	same := before.After == d.log.After && before.Before == d.log.Before && before.Program == d.log.Program
	if had == d.keepRecord && (!had || same) {
		return nil
	}
	return d.env.saveRecords(d.all)
}

func (d *fileEdit) writeText() error {
	if d.deleted {
		if err := os.Remove(d.now.real); err != nil {
			return err
		}
		d.tidy()
		return nil
	}
	o := atomicfile.Options{Mode: d.now.mode, Sync: true}
	if !d.now.exists {
		o.Mode, o.MkdirMode = 0o644, 0o755
		if d.plan.target.scope == User {
			o.Mode = 0o600
		}
		d.log.Dirs = missingDirs(filepath.Dir(d.now.real))
	}
	err := atomicfile.Write(d.now.real, d.after, o)
	if errors.Is(err, fs.ErrPermission) {
		return diag.Errorf(diag.Denied, "cannot write %s: %v", d.now.path, err).
			WithHint("run skillpm as the owner of the file, for example with sudo")
	}
	return err
}

// tidy removes the directories that install created for the file. If one has another file that install wrote, the
// removal of that file removes it.
func (d *fileEdit) tidy() {
	for i, dir := range d.log.Dirs {
		if err := os.Remove(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for key, other := range d.all.Files {
			if _, file, _ := strings.Cut(key, " "); key != d.key && pathx.ContainsStrict(dir, file) && other.Created {
				for _, dir := range d.log.Dirs[i:] {
					if !slices.Contains(other.Dirs, dir) {
						other.Dirs = append(other.Dirs, dir)
					}
				}
				d.all.Files[key] = other
			}
		}
		return
	}
}

// missingDirs returns a directory and those above it that do not exist, the deepest first.
func missingDirs(dir string) []string {
	var dirs []string
	for {
		if _, err := os.Lstat(dir); err == nil || filepath.Dir(dir) == dir {
			return slices.Clip(dirs)
		}
		dirs = append(dirs, dir)
		dir = filepath.Dir(dir)
	}
}
