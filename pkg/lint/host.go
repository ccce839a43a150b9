package lint

import (
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/skill"
)

// nameIsDirectory compares the name with the directory's. A skill that is a whole pack is named by its frontmatter, and
// where the name is illegal and would be right when mended, that has been said already.
func (u *unit) nameIsDirectory(j *judge) {
	_, node := u.doc.Lookup("name")
	name, dir := u.doc.Name(), path.Base(u.dir)
	if j.NameIsDirectory == nil || name == "" || name == dir || dir == "." || dir == "/" || u.doc.Recovered(node) {
		return
	}
	if u.tree.isFile("skillpm.yaml") || !skill.LegalName(name) {
		return
	}
	fix := fmt.Sprintf("write name: %s, or rename the directory to %s", dir, name)
	var edits func() []diag.Edit
	if skill.LegalName(dir) {
		edits = u.rename(dir)
	}
	switch {
	case !skill.LegalName(dir):
		fix = fmt.Sprintf("rename the directory to %s", skill.Slug(name))
	case !skill.LegalName(name):
		fix = fmt.Sprintf("write name: %s", dir)
	}
	u.atNode(node, finding{
		rule: rule.NameDirectory, severity: j.NameIsDirectory, profile: j.ID, fix: fix, edits: edits,
		message: fmt.Sprintf("the name is %q and the directory is %q", name, dir),
	})
}

func (u *unit) recommended(j *judge) {
	for _, name := range j.Recommended {
		if key, _ := u.doc.Lookup(name); key != nil || u.broken() {
			continue
		}
		f := finding{
			rule: rule.Recommended, message: "there is no " + name, profile: j.ID,
			src: u.src, line: u.doc.FrontLine - 1, column: 1, width: 3, fix: "add a line " + name + ": …",
		}
		if j.Defaults[name] == "first-paragraph" {
			f.message += ", so " + j.Title + " takes the first paragraph"
		}
		u.add(f)
	}
}

// listing warns when fields that are shown together are longer than what is shown.
func (u *unit) listing(j *judge) {
	if j.Listing == nil {
		return
	}
	total := 0
	var last *yaml.Node
	for _, name := range j.Listing.Fields {
		if _, v := u.doc.Lookup(name); v != nil && v.Kind == yaml.ScalarNode {
			total += length(v)
			last = v
		}
	}
	if total > j.Listing.Limit {
		u.atNode(last, finding{
			rule: rule.Listing, profile: j.ID,
			message: fmt.Sprintf("%s have %d characters together, and %s shows the first %d",
				strings.Join(j.Listing.Fields, " and "), total, j.Title, j.Listing.Limit),
		})
	}
}
