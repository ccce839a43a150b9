package bundle

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Layout is where the skills are in an archive.
type Layout int

// The layouts.
const (
	Rooted Layout = iota // each top directory is a skill, and nothing else is at the top
	Single               // the archive is one skill, with SKILL.md at its root
	Auto                 // Single if SKILL.md is at the root, otherwise the top directories that have one are skills
)

// UnpackOptions configure [Unpack]. The zero value unpacks all skills of a [Rooted] archive.
type UnpackOptions struct {
	Layout Layout
	Skill  string                  // Single, Auto: the name of the only skill; Rooted: the only root, "" for any
	Want   func(skill string) bool // selects the skills for the sink, the others are only checked; nil: all
	Limits Limits
	Used   *int64 // the bytes of the pack's other archives, which count for the limits; Unpack adds those of this one
}

const skillFile = "SKILL.md"

// Unpack reads a tar archive, compressed with gzip or not, and writes the files of its skills to sink.
//
// The archive is not trusted. Unsafe names, links, special files, collisions, sparse files, extended headers that other
// readers interpret differently, anything beyond the limits, a skill without SKILL.md, truncation, and trailing data
// are errors with the code Invalid that name the entry and the rule. The sink may have received files before an error
// and must discard them.
//
// [Auto] reads the archive twice: it rewinds r if it is an [io.Seeker], and otherwise reads up to 64 MiB into memory.
func Unpack(r io.Reader, opts UnpackOptions, sink Sink) error {
	opts.Limits = opts.Limits.OrDefault()
	u := &unpacker{opts: opts, sink: sink, skills: make(map[string]*unpackedSkill), folded: make(map[string]string)}
	if opts.Layout == Auto {
		rewound, skills, err := scan(r, opts)
		if err != nil {
			return err
		}
		r, u.roots = rewound, skills
		if skills[""] {
			u.opts.Layout, u.roots = Single, nil
		}
	}
	if err := u.archive(r); err != nil {
		return fmt.Errorf("cannot unpack the archive: %w", err)
	}
	return nil
}

type unpacker struct {
	opts   UnpackOptions
	sink   Sink                      // nil: check only
	roots  map[string]bool           // Auto: the top directories that are skills
	skills map[string]*unpackedSkill // by name
	folded map[string]string         // the name of each skill by its folded name
	files  int
	bytes  int64
}

type unpackedSkill struct {
	check        *Checker
	selected     bool // by UnpackOptions.Want
	hasSkillFile bool
}

func (u *unpacker) archive(r io.Reader) error {
	stream, err := openStream(r, u.opts.Limits)
	if err != nil {
		return err
	}
	if used := u.opts.Used; used != nil {
		stream.limit -= *used
		defer func() { *used = stream.size - stream.limit }()
	}
	tr := tar.NewReader(stream)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) { // CheckPath rejects unsafe names
			return stream.readError(err)
		}
		if err := u.entry(h, tr); err != nil {
			return stream.readError(withEntry(err, h.Name))
		}
	}
	if err := stream.finish(); err != nil {
		return err
	}
	return u.complete()
}

// complete checks, at the end, that there are skills and that each has a SKILL.md.
func (u *unpacker) complete() error {
	if len(u.skills) == 0 {
		return diag.Errorf(diag.Invalid, "no skills found: no directory contains a %s", skillFile)
	}
	missing := ""
	for name, s := range u.skills {
		if !s.hasSkillFile && (missing == "" || name < missing) {
			missing = name
		}
	}
	if missing != "" {
		return entryErrorf(missing, "does not contain a %s", skillFile)
	}
	return nil
}

// withEntry replaces the path inside a skill in an error by the name of the archive's entry.
func withEntry(err error, entry string) error {
	if e, ok := errors.AsType[*EntryError](err); ok {
		return &EntryError{Entry: entry, Rule: e.Rule}
	}
	return err
}

func (u *unpacker) entry(h *tar.Header, r io.Reader) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return checkGlobal(h)
	}
	dir, err := entryType(h)
	if err != nil {
		return err
	}
	if u.files++; u.files > u.opts.Limits.Files {
		return entryErrorf(h.Name, "exceeds the limit of %d entries", u.opts.Limits.Files)
	}
	name := strings.TrimPrefix(h.Name, "./")
	if dir {
		name = strings.TrimSuffix(name, "/")
	}
	if dir && (name == "" || name == ".") {
		return nil
	}
	if err := CheckPath(name); err != nil {
		return err
	}
	skill, p, err := u.locate(Normal(name), dir)
	if err != nil || skill == nil || p == "" {
		return err
	}
	return u.skillEntry(skill, p, dir, h, r)
}

// entryType reports whether an entry is a directory, and rejects everything that is neither that nor a regular file.
func entryType(h *tar.Header) (dir bool, err error) {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir:
	case tar.TypeSymlink:
		return false, entryErrorf(h.Name, "is a symbolic link to %s; links are not allowed", quoteName(h.Linkname))
	case tar.TypeLink:
		return false, entryErrorf(h.Name, "is a hard link to %s; links are not allowed", quoteName(h.Linkname))
	case tar.TypeChar, tar.TypeBlock:
		return false, entryErrorf(h.Name, "is a device")
	case tar.TypeFifo:
		return false, entryErrorf(h.Name, "is a named pipe")
	case tar.TypeGNUSparse:
		return false, entryErrorf(h.Name, "is a sparse file")
	default:
		return false, entryErrorf(h.Name, "has the unknown type %q", h.Typeflag)
	}
	for key := range h.PAXRecords {
		if rule := paxRule(key); rule != "" {
			return false, entryErrorf(h.Name, "%s", rule)
		}
	}
	if h.Typeflag == tar.TypeReg && h.Mode&0o7000 != 0 {
		return false, entryErrorf(h.Name, "has a setuid, setgid, or sticky mode: %04o", h.Mode&0o7777)
	}
	return h.Typeflag == tar.TypeDir, nil
}

func paxRule(key string) string {
	switch {
	case strings.HasPrefix(key, "GNU.sparse."):
		return "is a sparse file"
	case key == "linkpath":
		return "has the extended header linkpath, but is not a link"
	case key == "hdrcharset":
		return "has an extended header that changes the character set"
	}
	return ""
}

// checkGlobal only accepts the comment that git archive writes as a global header: readers differ about headers that
// set names or sizes for all entries.
func checkGlobal(h *tar.Header) error {
	for key := range h.PAXRecords {
		if key != "comment" {
			return entryErrorf(h.Name, "is a global extended header that sets %s", quoteName(key))
		}
	}
	return nil
}

// locate finds the skill of an entry and its path there. The skill is nil for entries to skip.
func (u *unpacker) locate(name string, dir bool) (skill *unpackedSkill, p string, err error) {
	if u.opts.Layout == Single {
		skill, err = u.skill(u.opts.Skill)
		return skill, name, err
	}
	root, p, below := strings.Cut(name, "/")
	if Ignored(root, dir || below) || u.roots != nil && !u.roots[root] {
		return nil, "", nil
	}
	if !below && !dir {
		return nil, "", entryErrorf(name, "is not inside a skill's directory")
	}
	if u.opts.Layout == Rooted && u.opts.Skill != "" && root != u.opts.Skill {
		return nil, "", entryErrorf(name, "is outside %s, the only allowed top-level directory",
			quoteName(u.opts.Skill))
	}
	skill, err = u.skill(root)
	return skill, p, err
}

func (u *unpacker) skill(name string) (*unpackedSkill, error) {
	if s := u.skills[name]; s != nil {
		return s, nil
	}
	key := fold(name)
	if old, ok := u.folded[key]; ok {
		return nil, entryErrorf(name, "collides with %s on file systems that ignore case or Unicode normalization",
			quoteName(old))
	}
	u.folded[key] = name
	s := &unpackedSkill{check: NewChecker(u.opts.Limits), selected: u.opts.Want == nil || u.opts.Want(name)}
	u.skills[name] = s
	return s, nil
}

func (u *unpacker) skillEntry(s *unpackedSkill, p string, dir bool, h *tar.Header, r io.Reader) error {
	if err := CheckPath(p); err != nil {
		return err
	}
	if Ignored(p, dir) {
		return nil
	}
	if dir {
		return s.check.AddDir(p)
	}
	if err := s.check.AddFile(p, h.Size); err != nil {
		return err
	}
	if u.bytes += h.Size; u.bytes > u.opts.Limits.TotalBytes {
		return entryErrorf(h.Name, "makes the archive larger than %d bytes", u.opts.Limits.TotalBytes)
	}
	s.hasSkillFile = s.hasSkillFile || p == skillFile
	if !s.selected || u.sink == nil {
		return nil
	}
	name := u.opts.Skill
	if u.opts.Layout != Single {
		name, _, _ = strings.Cut(Normal(strings.TrimPrefix(h.Name, "./")), "/")
	}
	return u.sink.WriteFile(name, p, h.Mode&0o100 != 0, h.Size, r)
}

// checkRoot returns an error if the name of a skill can't be a directory at the top of an archive.
func checkRoot(name string) error {
	if strings.Contains(name, "/") {
		return entryErrorf(name, "is not a single directory name")
	}
	return CheckPath(name + "/" + skillFile)
}
