package lint

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/internal/tokens"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// The lengths beyond which a body is too long, as the standard advises.
const (
	adviseLines  = 500
	adviseTokens = 5000
)

// checkStructure checks the files of the skill by their names and kinds.
func (u *skillCheck) checkStructure() {
	for _, rel := range u.tree.links {
		if bundle.Ignored(rel, false) {
			continue
		}
		what := "a symbolic link"
		if u.tree.entries[rel].Type()&fs.ModeSymlink == 0 {
			what = "neither a file nor a directory"
		}
		u.add(finding{rule: rule.Link, path: path.Join(u.dir, rel), message: rel + " is " + what})
	}
	for _, rel := range u.tree.files {
		u.checkLeftover(rel, false)
		u.checkPath(rel)
	}
	for _, list := range [][]string{u.tree.skipped, u.tree.leftovers} {
		for _, rel := range list {
			u.checkLeftover(rel, true)
		}
	}
	for rel, err := range u.tree.unread {
		u.add(finding{
			rule: rule.Unreadable, path: path.Join(u.dir, rel),
			message: "cannot read the directory: " + syserr.Reason(err),
		})
	}
	if n := len(u.tree.nested); n > 0 {
		inner := u.tree.nested[0]
		message := fmt.Sprintf("%s belongs to the skill %s and is not installed as a separate skill",
			u.l.show(path.Join(inner.dir, inner.file)), u.l.show(u.dir))
		if n > 1 {
			message = fmt.Sprintf("%d skills below %s belong to this skill and are not installed separately; the first is %s",
				n, u.l.show(u.dir), u.l.show(inner.dir))
		}
		u.add(finding{rule: rule.Nested, path: u.file, message: message})
	}
	if n := len(u.tree.examples); n > 0 {
		f := finding{rule: rule.SkippedSkill, path: u.file, message: "skillpm does not validate the skill in " +
			u.tree.examples[0]}
		if n > 1 {
			f.message = fmt.Sprintf("skillpm does not validate %d skills, for example the skill in %s", n, u.tree.examples[0])
		}
		for _, rel := range u.tree.examples {
			f.related = append(f.related, path.Join(u.dir, rel))
		}
		u.add(f)
	}
	u.checkCollisions()
	u.checkTotalSize()
	if u.tree.full {
		u.add(finding{rule: rule.ManyEntries, path: u.file, message: fmt.Sprintf(
			"the skill has more than %d files, or more than %d levels of directories", maxEntries, maxDepth)})
	}
}

// checkCollisions reports files that other machines cannot distinguish.
func (u *skillCheck) checkCollisions() {
	folded := make(map[string]string, len(u.tree.files))
	for _, rel := range u.tree.files {
		if bundle.Ignored(rel, false) {
			continue
		}
		k := fold(rel)
		if other, ok := folded[k]; ok {
			u.add(finding{
				rule: rule.Collision, path: path.Join(u.dir, rel),
				message: fmt.Sprintf("%s and %s are the same file on some file systems", rel, other),
			})
			continue
		}
		folded[k] = rel
	}
}

// checkTotalSize compares the size of all files with the limits of the profiles.
func (u *skillCheck) checkTotalSize() {
	var total int64
	for _, f := range u.files {
		total += f.size
	}
	for _, j := range u.l.schemas {
		if j.MaxBytes > 0 && total > j.MaxBytes {
			u.add(finding{
				rule: rule.TotalSize, path: u.file, profile: j.ID,
				message: fmt.Sprintf("the skill has %s; the limit is %s", size(total),
					size(j.MaxBytes)),
			})
		}
	}
}

// checkLeftover reports a file or directory that does not belong in a skill; only as a note if it is never published.
func (u *skillCheck) checkLeftover(rel string, dir bool) {
	f := finding{rule: rule.Leftover, path: path.Join(u.dir, rel)}
	base := path.Base(rel)
	switch {
	case bundle.Ignored(rel, dir):
		if strings.HasPrefix(base, ".git") || strings.HasPrefix(base, "skillpm.") ||
			strings.HasPrefix(base, ".skillpm") || base == ".hg" || base == ".svn" {
			return
		}
		f.severity = new(diag.SeverityNote)
		f.message = "skillpm does not publish " + base + " with the skill"
		f.fix = "remove " + base + " from the repository, and add it to .gitignore"
	case dir && leftoverDir(base):
		f.message = "a tool generated " + base + ", which is not part of the skill"
	case !dir && leftoverFile(base):
		f.message = "an editor or a tool created " + base + ", or the file contains settings for one machine"
	default:
		return
	}
	u.add(f)
}

// leftoverDir reports whether a directory of that name is some tool's.
func leftoverDir(name string) bool {
	switch name {
	case "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".venv", ".idea", ".tox", "__MACOSX":
		return true
	}
	return false
}

func leftoverFile(name string) bool {
	switch name {
	case ".env", ".env.local", ".coverage", "npm-debug.log", "nohup.out", ".Rhistory", ".python_history":
		return true
	}
	for _, ending := range []string{"~", ".orig", ".rej", ".bak", ".swp", ".swo", ".tmp"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}

// checkPath reports a file that cannot be in a pack because of its name.
func (u *skillCheck) checkPath(rel string) {
	if bundle.Ignored(rel, false) {
		return
	}
	if err := bundle.CheckPath(rel); err != nil {
		u.add(finding{rule: rule.UnsafePath, path: path.Join(u.dir, rel), message: err.Error()})
	}
}

// checkBody checks the length of what follows the frontmatter.
func (u *skillCheck) checkBody() {
	body := u.doc.Body()
	first := u.doc.BodyLine
	if len(bytes.TrimSpace(body)) == 0 {
		f := finding{
			rule: rule.EmptyBody, src: u.src, line: max(1, first-1), column: 1,
			message: "the skill does not contain instructions after the frontmatter",
		}
		switch {
		case u.doc.FrontLine > 0:
			u.add(f)
		case len(u.requiringFrontmatter().ids) == 0:
			f.message = "the skill does not contain instructions"
			u.add(f)
		}
		return
	}
	trimmed := bytes.TrimRight(body, " \t\r\n")
	if n := bytes.Count(trimmed, []byte("\n")) + 1; n > adviseLines {
		u.add(finding{
			rule: rule.ManyLines, src: u.src, line: first + adviseLines, column: 1,
			message: fmt.Sprintf("the body has %d lines; the standard recommends at most %d", n, adviseLines),
		})
	}
	if n := tokens.Estimate(trimmed); n > adviseTokens {
		u.add(finding{
			rule: rule.ManyTokens, src: u.src, line: first, column: 1,
			message: fmt.Sprintf("the body has about %d tokens; the standard recommends at most %d", n,
				adviseTokens),
		})
	}
}

// checkOpenFence reports a code block that nothing closes.
func (u *skillCheck) checkOpenFence(p *page) {
	if p.Open < 0 {
		return
	}
	line, column := p.src.position(p.Open)
	message := "this code block is not closed, so the rest of the file is code"
	if _, rest, _ := bytes.Cut(p.src.data[p.Open:], []byte("\n")); len(bytes.TrimSpace(rest)) == 0 {
		message = "this fence opens a code block at the end of the file: an earlier code block is closed too early"
	}
	u.add(finding{rule: rule.OpenFence, src: p.src, line: line, column: column, message: message})
}

// size formats a number of bytes.
func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
