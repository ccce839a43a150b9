package pack

import (
	"bytes"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// parseCanonicalLock reads a lock that is, byte for byte, what [Lock.Encode] writes, without the time that YAML takes:
// it is read whenever nothing is to be done. It returns nil for any other text, and for one that is not valid, whose
// errors are the YAML reader's to tell.
func parseCanonicalLock(data []byte) *Lock {
	w := &canonicalReader{lock: NewLock()}
	for line := range strings.Lines(string(data)) {
		text := strings.TrimLeft(line, " ")
		if !w.line((len(line)-len(text))/2, strings.TrimSuffix(text, "\n")) {
			return nil
		}
	}
	if !bytes.Equal(w.lock.Encode(), data) {
		return nil
	}
	for id, p := range w.lock.Packs {
		if !validEntry(id, p) {
			return nil
		}
	}
	for name, n := range w.lock.Names {
		if skill.CheckName(name) != nil {
			return nil
		}
		for _, alias := range n.Shadowed {
			if skill.CheckName(alias) != nil {
				return nil
			}
		}
	}
	return w.lock
}

// canonicalReader takes lines in. It may take what Encode never writes: the result is encoded again and compared.
type canonicalReader struct {
	lock  *Lock
	top   string // the key at the start of a line that holds what follows: packs or names
	pack  *LockedPack
	name  string            // the bare name that what follows is about
	table map[string]string // of the pack, that what follows is in
}

// line takes one line, which is depth levels deep. It returns false for what it does not know.
func (w *canonicalReader) line(depth int, text string) bool {
	if depth == 0 {
		w.top, w.pack, w.name, w.table = strings.TrimSuffix(text, ":"), nil, "", nil
		return true
	}
	key, value, ok := strings.Cut(text, ":")
	key, value = unquoted(key), unquoted(strings.TrimPrefix(value, " "))
	switch {
	case !ok:
		return false
	case depth == 1 && w.top == "packs":
		id, err := ParseID(key)
		w.pack, w.table = &LockedPack{}, nil
		w.lock.Packs[id] = w.pack
		return err == nil
	case depth == 1 && w.top == "names":
		w.name = key
		w.lock.Names[key] = LockedName{}
		return value == "" // an empty mapping is left to YAML
	case depth == 2 && w.pack != nil:
		return w.field(key, value)
	case depth == 3 && w.table != nil:
		w.table[key] = value
		return true
	case w.name != "":
		return w.naming(depth, key, value)
	}
	return false
}

// field takes a field of a pack.
func (w *canonicalReader) field(key, value string) bool {
	w.table = nil
	switch key {
	case "version":
		w.pack.Version = value
	case "source":
		w.pack.Source = value
	case "resolved":
		w.pack.Resolved = value
	case "integrity":
		w.pack.Integrity = value
	case "signer":
		w.pack.Signer = value
	case "partial":
		w.pack.Partial = value == "true"
	case "dependencies":
		w.table = make(map[string]string)
		w.pack.Dependencies = w.table
	case "skills":
		w.table = make(map[string]string)
		w.pack.Skills = w.table
	default:
		return false
	}
	return true
}

// naming takes a line about a bare name.
func (w *canonicalReader) naming(depth int, key, value string) bool {
	n := w.lock.Names[w.name]
	switch {
	case depth == 2 && key == "winner":
		id, err := ParseID(value)
		n.Winner = id
		w.lock.Names[w.name] = n
		return err == nil
	case depth == 2 && key == "shadowed":
		n.Shadowed = make(map[ID]string)
		w.lock.Names[w.name] = n
		return true
	case depth == 3 && n.Shadowed != nil:
		id, err := ParseID(key)
		n.Shadowed[id] = value
		return err == nil
	}
	return false
}

// unquoted returns the text that Encode wrote in quotes. What it had to escape stays as it is, and so is not what it
// writes.
func unquoted(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

// validEntry checks what the YAML reader checks of an entry.
func validEntry(id ID, p *LockedPack) bool {
	for name := range p.Dependencies {
		if _, err := ParseID(name); err != nil {
			return false
		}
	}
	for name, digest := range p.Skills {
		if skill.CheckName(name) != nil || bundle.CheckDigest(digest) != nil {
			return false
		}
	}
	_, badVersion := semver.StrictNewVersion(p.Version)
	_, badPlace := p.Ref(id)
	return badVersion == nil && badPlace == nil && p.Source != "" && p.Integrity == bundle.Integrity(p.Skills) &&
		bundle.CheckDigest(p.Integrity) == nil && isSigner(p.Signer)
}
