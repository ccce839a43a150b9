package workspace

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
)

// state is what this machine has installed in a scope: the trees and links that skillpm created, and their
// fingerprints. It is never shared; without it everything is found again by hashing.
//
// It allows skillpm to replace and remove files, so a MAC of this machine authenticates it: a state file from a
// repository or from another path does not count.
//
// The file has lines of fields with tabs between them, which are fast to read when there is nothing to do:
//
//	skillpm-state 2	MAC of the rest in hex
//	committed	DIRECTORY
//	link	PATH	TARGET
//	live	PACK	DIRECTORY
//	pack	NAME	VERSION	RESOLVED	SIGNER
//	place	PACK	DIRECTORY
//	tree	PATH	DIGEST	SOURCE	FINGERPRINT	ENTRY…
//
// A field with a tab or a line break in it, or with a quote at its start, is quoted as in Go.
type state struct {
	Trees map[string]treeState // by path below the scope's root
	Links map[string]string    // path below the scope's root -> target
	// Directories are the directories that packs were locked from, which a lock never records: pack -> directory.
	Directories map[string]string
	// Packs are the versions that were installed last: the lockfile of a project may have been turned back.
	Packs map[string]InstalledPack
	// Committed are the directories of agents whose generated entries git tracks.
	Committed map[string]bool
	// Linked are the working copies of linked packs: pack -> absolute directory.
	Linked map[string]string

	found bool // there was an authentic file
}

// treeState is an installed directory: the digest of its files, the pristine tree (and alias) that it was made from,
// and its fingerprint.
type treeState struct {
	Digest      string
	Source      string
	fingerprint fingerprint
}

// InstalledPack is the version of a pack that this machine installed last.
type InstalledPack struct {
	Version  string
	Resolved string // as the lock had it
	Signer   string // as the lock had it
}

// InstalledPack returns what this machine installed last of a pack that is still there, and false where it knows of
// none.
func (w *Workspace) InstalledPack(id pack.ID) (InstalledPack, bool) {
	p, ok := w.state.Packs[id.String()]
	return p, ok
}

// stateHeader is the first field of a state file: the format and its version.
const stateHeader = "skillpm-state 2"

func newState() *state {
	return &state{
		Trees: map[string]treeState{}, Links: map[string]string{}, Directories: map[string]string{},
		Linked: map[string]string{}, Packs: map[string]InstalledPack{}, Committed: map[string]bool{},
	}
}

// readState reads the state file of the scope at root. A file that is missing, unreadable, or not authentic for this
// root counts as empty: everything in it can be derived.
func readState(path, root string, key []byte) (*state, error) {
	data, err := safefile.ReadOptional(path)
	if err != nil || data == nil || len(key) == 0 {
		return newState(), err
	}
	firstLine, lines, _ := bytes.Cut(data, []byte("\n"))
	header, mac, _ := strings.Cut(string(firstLine), "\t")
	got, err := hex.DecodeString(mac)
	if err != nil || header != stateHeader || !hmac.Equal(got, stateMAC(lines, root, key)) {
		return newState(), nil
	}
	return parseState(string(lines)), nil
}

// stateMAC returns the authentication code of the state of the scope at root.
func stateMAC(lines []byte, root string, key []byte) []byte {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "%s\x00%s\x00", stateHeader, root)
	h.Write(lines)
	return h.Sum(nil)
}

// parseState reads the lines of an authentic state file. It ignores lines that a later skillpm wrote.
func parseState(lines string) *state {
	s := newState()
	s.found = true
	s.Trees = make(map[string]treeState, strings.Count(lines, "\ntree\t")+1)
	s.Links = make(map[string]string, strings.Count(lines, "\nlink\t")+1)
	var fields []string
	for line := range strings.Lines(lines) {
		fields = splitFields(fields[:0], strings.TrimSuffix(line, "\n"))
		switch kind := fields[0]; {
		case kind == "tree" && len(fields) == 6:
			t := treeState{
				Digest: fields[2], Source: fields[3],
				fingerprint: fingerprint{digest: fields[4], entries: fields[5]},
			}
			if t.Source == "" { // it is the digest
				t.Source = t.Digest
			}
			s.Trees[fields[1]] = t
		case kind == "link" && len(fields) == 3:
			s.Links[fields[1]] = fields[2]
		case kind == "pack" && len(fields) == 5:
			s.Packs[fields[1]] = InstalledPack{Version: fields[2], Resolved: fields[3], Signer: fields[4]}
		case kind == "live" && len(fields) == 3:
			s.Linked[fields[1]] = fields[2]
		case kind == "committed" && len(fields) == 2:
			s.Committed[fields[1]] = true
		case kind == "place" && len(fields) == 3:
			s.Directories[fields[1]] = fields[2]
		}
	}
	return s
}

// encode returns the state of the scope at root as a file.
func (s *state) encode(root string, key []byte) []byte {
	var b bytes.Buffer
	for _, dir := range slices.Sorted(maps.Keys(s.Committed)) {
		writeFields(&b, "committed", dir)
	}
	for _, at := range slices.Sorted(maps.Keys(s.Links)) {
		writeFields(&b, "link", at, s.Links[at])
	}
	for _, pk := range slices.Sorted(maps.Keys(s.Linked)) {
		writeFields(&b, "live", pk, s.Linked[pk])
	}
	for _, pk := range slices.Sorted(maps.Keys(s.Packs)) {
		writeFields(&b, "pack", pk, s.Packs[pk].Version, s.Packs[pk].Resolved, s.Packs[pk].Signer)
	}
	for _, pk := range slices.Sorted(maps.Keys(s.Directories)) {
		writeFields(&b, "place", pk, s.Directories[pk])
	}
	for _, at := range slices.Sorted(maps.Keys(s.Trees)) {
		t := s.Trees[at]
		source := t.Source
		if source == t.Digest {
			source = ""
		}
		writeFields(&b, "tree", at, t.Digest, source, t.fingerprint.digest)
		b.Truncate(b.Len() - 1)
		b.WriteString("\t" + t.fingerprint.entries + "\n")
	}
	header := stateHeader + "\t" + hex.EncodeToString(stateMAC(b.Bytes(), root, key)) + "\n"
	return append([]byte(header), b.Bytes()...)
}

// writeFields writes one line.
func writeFields(b *bytes.Buffer, fields ...string) {
	for i, f := range fields {
		if i > 0 {
			b.WriteByte('\t')
		}
		if strings.HasPrefix(f, `"`) || strings.ContainsAny(f, "\t\n\r") {
			f = strconv.Quote(f)
		}
		b.WriteString(f)
	}
	b.WriteByte('\n')
}

// splitFields appends the fields of a line: the first five, and the rest as a sixth.
func splitFields(fields []string, line string) []string {
	for {
		if len(fields) == 5 {
			return append(fields, line)
		}
		field, rest, more := strings.Cut(line, "\t")
		if strings.HasPrefix(field, `"`) {
			if unquoted, err := strconv.Unquote(field); err == nil {
				field = unquoted
			}
		}
		fields = append(fields, field)
		if !more {
			return fields
		}
		line = rest
	}
}
