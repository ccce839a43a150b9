package sandbox

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// tree is what a command sees of the file system.
type tree struct {
	disk   disk
	links  map[string]string
	places map[string]place
}

func newTree() *tree {
	return &tree{disk: disk{}, links: map[string]string{}, places: map[string]place{}}
}

// add adds a place under its real path, with the links on the way to it. What does not exist is passed over.
func (t *tree) add(path string, write bool) {
	at, links := t.disk.follow(path)
	info, err := os.Lstat(at)
	if err != nil || at == "/" {
		return
	}
	for _, l := range links {
		t.links[l.Path] = l.Target
	}
	t.places[at] = place{Path: at, Dir: info.IsDir(), Write: write || t.places[at].Write}
}

// way adds the links on the way to a path.
func (t *tree) way(path string) {
	_, links := t.disk.follow(path)
	for _, l := range links {
		t.links[l.Path] = l.Target
	}
}

// order returns the links and the places, sorted. A place in another one that may be used in the same way is left out.
func (t *tree) order() (links []link, places []place) {
	for path, target := range t.links {
		links = append(links, link{path, target})
	}
	slices.SortFunc(links, func(a, b link) int { return cmp.Compare(a.Path, b.Path) })
	all := make([]place, 0, len(t.places))
	for _, p := range t.places {
		all = append(all, p)
	}
	sortPlaces(all)
	for _, p := range all {
		outer := last(places, p.Path)
		if outer != nil && outer.Write == p.Write {
			continue
		}
		places = append(places, p)
		if outer == nil || p.Write {
			continue
		}
		// Where something is mounted cannot be renamed: else a directory above it could be, and another take its place.
		for dir := filepath.Dir(p.Path); within(dir, outer.Path) && dir != outer.Path; dir = filepath.Dir(dir) {
			places = append(places, place{Path: dir, Dir: true, Write: true})
		}
	}
	sortPlaces(places)
	return links, slices.CompactFunc(places, func(a, b place) bool { return a.Path == b.Path })
}

// sortPlaces puts places before what lies in them.
func sortPlaces(places []place) {
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.Path+"/", b.Path+"/") })
}

// last returns the innermost of some places that a path lies in, nil if it lies in none.
func last(places []place, path string) *place {
	for i := len(places) - 1; i >= 0; i-- {
		if within(path, places[i].Path) {
			return &places[i]
		}
	}
	return nil
}

// within reports whether a path is a directory or lies in it.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// maxLinks is how many links of one path are followed, as systems do.
const maxLinks = 40

// disk remembers what was seen of paths while one command is made ready: the target of a link, "" for what is none.
type disk map[string]string

// readlink returns the target of a link, "" for what is none.
func (d disk) readlink(path string) string {
	target, known := d[path]
	if !known {
		target, _ = os.Readlink(path)
		d[path] = target
	}
	return target
}

// follow returns where an absolute path leads, and the links on the way.
func (d disk) follow(path string) (at string, links []link) {
	at = "/"
	steps := strings.Split(filepath.Clean(path), "/")
	for len(steps) > 0 {
		step := steps[0]
		steps = steps[1:]
		switch step {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, step)
		target := d.readlink(next)
		if target == "" || len(links) == maxLinks {
			at = next
			continue
		}
		links = append(links, link{next, target})
		if filepath.IsAbs(target) {
			at = "/"
		}
		steps = append(strings.Split(target, "/"), steps...)
	}
	return at, links
}

// real returns where paths lead.
func (d disk) real(paths []string) []string {
	at := make([]string, 0, len(paths))
	for _, path := range paths {
		to, _ := d.follow(path)
		at = append(at, to)
	}
	return at
}

// open returns why a place must not be opened to a command: it contains one that is hidden, or is to be written in one.
func (d disk) open(path string, hidden []string, write bool) error {
	if !filepath.IsAbs(path) {
		return diag.Errorf(diag.Invalid, "%q is no absolute path: a command can't be confined to it", path)
	}
	at, _ := d.follow(path)
	for _, h := range hidden {
		if within(h, at) || write && within(at, h) && !within(at, "/dev/shm") {
			err := diag.Errorf(diag.Denied, "%s can't be opened to what is confined: %s is in the way", path, h)
			if at != h && within(h, at) {
				return err.WithHint("work in a directory of its own below the home directory, as that of a project")
			}
			return err.WithHint("no skill may have it: take the path out of execution.allowed-paths")
		}
	}
	return nil
}

// lookup returns the value of a variable of an environment; the last one counts.
func lookup(env []string, name string) (value string) {
	for _, v := range env {
		if after, ok := strings.CutPrefix(v, name+"="); ok {
			value = after
		}
	}
	return value
}
