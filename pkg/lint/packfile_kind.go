package lint

import (
	"bytes"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/skill"
)

// packKind says which of the files that describe packs a file is.
type packKind int

const (
	packManifest packKind = iota
	packLock
	packIndex       // the file of one pack in an index
	packIndexConfig // the description of an index
	packPolicy
	packMaybePolicy // a policy.yaml, which may be anybody's
	packBaseline
)

// The names of policies: the first is one wherever it is, the second only in a directory of skillpm's or if it looks
// so.
const (
	policyName      = "skillpm-policy.yaml"
	otherPolicyName = "policy.yaml"
	indexExt        = ".ndjson"
	indexDir        = "packs"
)

// packFileKind tells a file that describes packs by its name. The files of an index have none of their own; see
// [linter.packTarget] and [linter.packFilesIn].
func packFileKind(name string) (packKind, bool) {
	switch path.Base(name) {
	case pack.ManifestName:
		return packManifest, true
	case pack.LockName:
		return packLock, true
	case BaselineName:
		return packBaseline, true
	case policyName:
		return packPolicy, true
	case otherPolicyName:
		dir := path.Base(path.Dir(name))
		return packPolicy, dir == "skillpm" || dir == ".skillpm"
	}
	return 0, false
}

// packTarget tells a file that describes packs and that was asked for. A policy.yaml counts if it looks like a policy,
// and a file of lines of JSON unless it is a skill's.
func (l *linter) packTarget(name string) (packKind, bool) {
	if kind, ok := packFileKind(name); ok {
		return kind, true
	}
	dir := path.Dir(name)
	switch {
	case path.Base(name) == otherPolicyName:
		head, err := readHead(l.fsys, name, maxText)
		return packPolicy, err == nil && looksLikePolicy(head)
	case path.Base(name) == index.ConfigPath:
		return packIndexConfig, l.isDir(path.Join(dir, indexDir))
	case path.Ext(name) == indexExt:
		_, inIndex := l.indexOf(name)
		return packIndex, inIndex || !l.inSkill(dir)
	}
	return 0, false
}

// packFilesIn returns the files of a directory that describe packs.
func (l *linter) packFilesIn(dir string, entries []fs.DirEntry) []packFile {
	var out []packFile
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		kind, ok := packFileKind(name)
		switch {
		case !e.Type().IsRegular():
			continue
		case ok:
		case e.Name() == otherPolicyName:
			kind, ok = packMaybePolicy, true
		case e.Name() == index.ConfigPath:
			kind, ok = packIndexConfig, slices.ContainsFunc(entries,
				func(e fs.DirEntry) bool { return e.IsDir() && e.Name() == indexDir })
		case path.Ext(name) == indexExt:
			kind = packIndex
			_, ok = l.indexOf(name)
		}
		if ok && !l.Settings.passesOver(name) {
			out = append(out, packFile{kind, name})
		}
	}
	return out
}

// entryPath is how the path of a pack's file in an index ends.
var entryPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|/)packs/[0-9a-f]{2}/[0-9a-f]{2}/[^/]+/[^/]+\.ndjson$`)
})

// indexOf returns the index that a file is in: the directory whose packs directory is above the file and that describes
// itself, or the one that the form of the path shows.
func (l *linter) indexOf(name string) (root string, ok bool) {
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if path.Base(dir) != indexDir {
			continue
		}
		if info, err := fs.Stat(l.fsys, path.Join(path.Dir(dir), index.ConfigPath)); err == nil && info.Mode().
			IsRegular() {
			return path.Dir(dir), true
		}
	}
	if at := entryPath().FindStringIndex(name); at != nil {
		return path.Clean("./" + name[:at[0]]), true
	}
	return "", false
}

func (l *linter) isDir(name string) bool {
	info, err := fs.Stat(l.fsys, name)
	return err == nil && info.IsDir()
}

// inSkill reports whether a directory is a skill's or below one.
func (l *linter) inSkill(dir string) bool {
	for ; ; dir = path.Dir(dir) {
		if _, err := fs.Stat(l.fsys, path.Join(dir, skill.File)); err == nil {
			return true
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}

// policyKeys are the keys of a policy besides its version.
var policyKeys = [...]string{
	"mode", "sources", "skills", "require", "forbid", "approve", "limits", "downgrade", "lint", "audit",
}

// looksLikePolicy reports whether YAML has a version and more of a policy's keys than others.
func looksLikePolicy(data []byte) bool {
	version, own, others := false, 0, 0
	for line := range bytes.Lines(data) {
		key, _, ok := strings.Cut(string(line[:min(len(line), 32)]), ":")
		switch {
		case !ok || key == "" || key[0] < 'A' || key[0] > 'z':
		case key == "version":
			version = true
		case slices.Contains(policyKeys[:], key):
			own++
		default:
			others++
		}
	}
	return version && own > others
}
