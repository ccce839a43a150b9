package lint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

// skillDir is a directory with a skill in it.
type skillDir struct {
	dir     string
	file    string // the name of its SKILL.md as it is on disk
	entries []fs.DirEntry
	outer   string // the directory of the skill that it is inside of, or ""
}

// find gives the skills at and below the targets to take, each once.
func (l *lintRun) find(ctx context.Context, targets []string, take func(skillDir)) error {
	seen := map[string]bool{}
	for _, target := range targets {
		s := search{l: l, ctx: ctx, take: func(h skillDir) {
			if !seen[h.dir] {
				seen[h.dir] = true
				take(h)
			}
		}}
		if err := s.searchTarget(target); err != nil {
			return err
		}
		if s.skills == 0 && len(s.files) == 0 && !s.skipped && !s.found {
			return noSkill(l.show(target), s.dirs)
		}
		l.packFiles = append(l.packFiles, s.files...)
	}
	return nil
}

// search is the search below one target.
type search struct {
	l      *lintRun
	ctx    context.Context
	take   func(skillDir)
	dirs   int
	skills int
	files  []packFile

	skipped bool // the settings pass over something
	found   bool // there is a finding about a directory without a skill
}

func (s *search) searchTarget(target string) error {
	if s.l.Settings.skipsPath(target) {
		s.skipped = true
		return nil
	}
	info, err := fs.Stat(s.l.fsys, target)
	if errors.Is(err, fs.ErrNotExist) {
		return diag.Errorf(diag.NotFound, "%s does not exist", s.l.show(target)).
			WithHint("use the path of a SKILL.md file, or of a directory with skills")
	}
	if err != nil {
		return diag.Errorf(diag.NotFound, "cannot read %s: %s", s.l.show(target), syserr.Reason(err))
	}
	if kind, ok := s.l.packTarget(target); ok && !info.IsDir() {
		s.files = append(s.files, packFile{kind, target})
		return nil
	}
	if !info.IsDir() {
		return s.searchFile(target)
	}
	return s.searchDir(target)
}

// searchFile takes the skill that a file belongs to: its own directory's, or one further up.
func (s *search) searchFile(target string) error {
	for dir := path.Dir(target); ; dir = path.Dir(dir) {
		entries, err := fs.ReadDir(s.l.fsys, dir)
		if err != nil {
			return diag.Errorf(diag.NotFound, "cannot read %s: %s", s.l.show(dir), syserr.Reason(err))
		}
		s.dirs++
		if name := s.l.skillFile(dir, entries); name != "" {
			s.skills++
			s.take(skillDir{dir: dir, file: name, entries: entries})
			return nil
		}
		if dir == "." || dir == "/" {
			return nil
		}
	}
}

// searchDir looks for skills in a directory and, unless it is one, below it. What cannot be listed below the target is
// a finding.
func (s *search) searchDir(dir string) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(s.l.fsys, dir)
	if err != nil {
		if s.dirs == 0 {
			return diag.Errorf(diag.NotFound, "cannot read %s: %s", s.l.show(dir), syserr.Reason(err))
		}
		s.found = true
		c := newCollector(s.l)
		c.add(finding{rule: rule.Unreadable, path: dir, message: "cannot read the directory: " + syserr.Reason(err)})
		s.l.unread = append(s.l.unread, c)
		return nil
	}
	s.dirs++
	if s.dirs > 1 && skill.Vendored(dir, entries) {
		return nil
	}
	s.l.listed[dir] = slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == pack.ManifestName })
	s.files = append(s.files, s.l.packFilesIn(dir, entries)...)
	if name := s.l.skillFile(dir, entries); name != "" {
		s.skills++
		s.take(skillDir{dir: dir, file: name, entries: entries})
		return nil
	}
	s.reportWrongCase(dir, entries)
	for _, e := range entries {
		below := path.Join(dir, e.Name())
		switch {
		case s.l.Settings.skipsPath(below):
			s.skipped = true
		case e.IsDir() && !skipsDir(below):
			if err := s.searchDir(below); err != nil {
				return err
			}
		}
	}
	return nil
}

// reportWrongCase reports a file that differs from SKILL.md in case and does not start like a skill, so it may be another
// page. Nothing else in it is checked. If the directory has other pages, it counts as one of them and is not reported.
func (s *search) reportWrongCase(dir string, entries []fs.DirEntry) {
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return isMarkdown(e.Name()) && !companion(e.Name()) && !isWrongCase(e)
	}) {
		return
	}
	for _, e := range entries {
		if !isWrongCase(e) {
			continue
		}
		s.found = true
		c := newCollector(s.l)
		c.add(finding{
			rule: rule.FileCase, severity: new(diag.SeverityWarning), path: path.Join(dir, e.Name()),
			message: e.Name() + " is not read as a skill, because its name is not SKILL.md",
		})
		s.l.unread = append(s.l.unread, c)
	}
}

func isWrongCase(e fs.DirEntry) bool {
	return e.Type().IsRegular() && len(e.Name()) == len(skill.File) && strings.EqualFold(e.Name(), skill.File) &&
		e.Name() != skill.File
}

// skipsDir reports whether a directory is not searched. In .skillpm only local skills are searched: the rest are
// installed packs.
func skipsDir(dir string) bool {
	base := path.Base(dir)
	if path.Base(path.Dir(dir)) == ".skillpm" {
		return base != "skills"
	}
	return base != ".skillpm" && skill.SkipDir(base)
}

// skillFile returns the name of the directory's SKILL.md. A file of that name in another case counts only if it starts
// like a skill, because a page called skill.md may be about anything; in a directory that is a target itself, it always
// counts.
func (l *lintRun) skillFile(dir string, entries []fs.DirEntry) string {
	other := ""
	for _, e := range entries {
		switch {
		case e.IsDir():
		case e.Name() == skill.File:
			return skill.File
		case isWrongCase(e):
			other = e.Name()
		}
	}
	if other != "" && (slices.Contains(l.targets, dir) || slices.Contains(l.targets, path.Join(dir, other)) ||
		l.startsLikeSkill(path.Join(dir, other))) {
		return other
	}
	return ""
}

func (l *lintRun) startsLikeSkill(name string) bool {
	head, err := readHead(l.fsys, name, 4096)
	if err != nil {
		return false
	}
	doc, _ := skill.Parse(head)
	if doc.FrontLine == 0 || doc.Front == nil {
		return false
	}
	for i := 0; i+1 < len(doc.Front.Content); i += 2 {
		if key := strings.ToLower(doc.Front.Content[i].Value); key == "name" || key == "description" {
			return true
		}
	}
	return false
}

// readHead returns the first bytes of a file.
func readHead(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var buf bytes.Buffer
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		buf.Grow(int(min(info.Size(), limit)) + bytes.MinRead)
	}
	_, err = buf.ReadFrom(io.LimitReader(f, limit))
	return buf.Bytes(), err
}
