package pack_test

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// tree makes a file system of lines "path: text"; a path that ends in SKILL.md gets frontmatter with text as its name.
func tree(lines string) fstest.MapFS {
	fsys := make(fstest.MapFS)
	for line := range strings.Lines(lines) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if name == "" {
			continue
		}
		text = strings.ReplaceAll(text, `\n`, "\n")
		if strings.EqualFold(path.Base(name), "SKILL.md") && text != "" {
			text = fmt.Sprintf("---\nname: %s\ndescription: About %s.\n---\nBody.\n", text, text)
		}
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func mustRef(t testing.TB, s string) pack.Ref {
	t.Helper()
	ref, err := pack.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func showContent(c *pack.Content) string {
	s := c.ID.String() + " " + c.Version
	for _, k := range c.Skills {
		s += " " + k.Name
		if k.Dir != k.Name {
			s += "=" + k.Dir
		}
	}
	return s
}

// TestDescribe checks that a repository of skills is a pack, with or without a skillpm.yaml.
func TestDescribe(t *testing.T) {
	for _, tt := range []struct{ name, ref, files, want, skipped string }{
		{
			"a repository as it is", "git+https://git.example/Acme_Corp/my.tools.git#v1.2.0", `
				README.md: x
				a/SKILL.md: a
				deep/er/b/SKILL.md: b`,
			"acme-corp/my-tools 1.2.0 a b=deep/er/b", "",
		},
		{
			"a directory in it", "git+https://git.example/acme/tools.git//packs/ops", `
				deploy/SKILL.md: deploy`,
			"acme/ops 0.0.0 deploy", "",
		},
		{
			"one skill at the root", "./near", `
				SKILL.md: deploy
				references/x/SKILL.md: not-mine`,
			"local/near 0.0.0 deploy=.", "",
		},
		{
			"named by its pack", "github.com/acme/tools", `
				SKILL.md: Not Legal`,
			"acme/tools 0.0.0 tools=.", "",
		},
		{
			"named by its directory", "./near", `
				deploy/SKILL.md: Deploy It!
				Roll_Back/SKILL.md: Roll Back
				plain/SKILL.md`,
			"local/near 0.0.0 deploy plain roll-back=Roll_Back", "",
		},
		{
			"what belongs to a skill is not one", "./near", `
				a/SKILL.md: a
				a/b/SKILL.md: b
				a/references/c/SKILL.md: c`,
			"local/near 0.0.0 a", "",
		},
		{
			"passed over", "./near", `
				.git/x/SKILL.md: a
				node_modules/b/SKILL.md: b
				.skillpm/plugins/acme/c/c/SKILL.md: c
				drafts/d/SKILL.md: d
				e/SKILL.md: e
				.skillpmignore: drafts/\n`,
			"local/near 0.0.0 e", "",
		},
		{
			"spelled wrongly", "./near", `
				a/skill.md: a
				b/SKILL.md: b
				c/Skill.md: c`,
			"local/near 0.0.0 b", "skipped a/skill.md: the file must be named SKILL.md; skipped c/Skill.md: the file must be named SKILL.md",
		},
		{
			"two of one name", "./near", `
				z/SKILL.md: deploy
				a/b/SKILL.md: deploy
				y/SKILL.md: other
				b/SKILL.md: deploy`,
			"local/near 0.0.0 deploy=b other=y", "skipped z: b also has the name deploy; skipped a/b: b also has the name deploy",
		},
		{
			"manifest", "./near", `
				skillpm.yaml: name: acme/deploy\nversion: 1.4.0\n
				skills/deploy/SKILL.md: deploy`,
			"acme/deploy 1.4.0 deploy=skills/deploy", "",
		},
		{
			"manifest without a name", "git+https://git.example/acme/tools.git#tools/v2.0.0", `
				skillpm.yaml: description: x\n
				deploy/SKILL.md: deploy`,
			"acme/tools 2.0.0 deploy", "",
		},
		{
			"patterns", "./near", `
				skillpm.yaml: name: acme/deploy\nskills: ["skills/*", "./more/**", "one/", "none/*"]\n
				skills/a/SKILL.md: a
				skills/a/b/SKILL.md: b
				skills/deeper/c/SKILL.md: c
				more/SKILL.md: more
				more/d/SKILL.md: d
				one/SKILL.md: one
				other/SKILL.md: other`,
			"acme/deploy 0.0.0 a=skills/a more one", "",
		},
		{
			"deep pattern", "./near", `
				skillpm.yaml: name: acme/deploy\nskills: ["packs/**/s-?"]\n
				packs/s-1/SKILL.md: a
				packs/x/s-2/SKILL.md: b
				packs/x/y/s-3/SKILL.md: c
				packs/x/y/t-3/SKILL.md: d`,
			"acme/deploy 0.0.0 a=packs/s-1 b=packs/x/s-2 c=packs/x/y/s-3", "",
		},
		{
			"the root by pattern", "./near", `
				skillpm.yaml: name: acme/deploy\nskills: [.]\n
				SKILL.md: deploy
				x/SKILL.md: x`,
			"acme/deploy 0.0.0 deploy=.", "",
		},
		{
			"what is not about the pack does not matter", "./near", `
				skillpm.yaml: name: acme/a\ndependancies: {}\nfuture: [1]\nregistries: no list\nlink-mode: later\n
				a/SKILL.md: a`,
			"acme/a 0.0.0 a", "skillpm.yaml:2:1: unknown key \"dependancies\": did you mean dependencies?; skillpm.yaml:3:1: unknown key \"future\"",
		},
		{
			"only dependencies", "./near", `
				skillpm.yaml: name: acme/all\ndependencies: {acme/a: "1"}\n`,
			"acme/all 0.0.0", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := pack.Describe(tree(tt.files), mustRef(t, tt.ref))
			if err != nil {
				t.Fatal(err)
			}
			if got := showContent(c); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := strings.Join(c.Skipped, "; "); got != tt.skipped {
				t.Errorf("skipped %q, want %q", got, tt.skipped)
			}
		})
	}
}

func TestDescribeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, files, want string
		code              diag.Code
	}{
		{"nothing", "README.md: x", "no skills found in ./near: ", diag.NotFound},
		{"broken manifest", "skillpm.yaml: version: x\na/SKILL.md: a", `./near: skillpm.yaml:1:10: invalid version "x"`, diag.Invalid},
		{"merge markers", "skillpm.yaml: <<<<<<< a\na/SKILL.md: a", "merge conflict", diag.Invalid},
		{"two of one name", "skillpm.yaml: name: a/b\nx/SKILL.md: deploy\ny/SKILL.md: deploy", "two skills are named deploy: x and y", diag.Invalid},
		{"a skill that is not there", "skillpm.yaml: skills: [x, y]\nx/SKILL.md: x", "skillpm.yaml lists the directory y, but the directory does not contain a SKILL.md", diag.Invalid},
		{"an ignored skill", "skillpm.yaml: skills: [x]\nx/SKILL.md: x\n.skillpmignore: x", "skillpm.yaml lists the directory x", diag.Invalid},
		{"a SKILL.md that is a directory", "a/SKILL.md/x: y", "no skills found in ./near: ", diag.NotFound},
	} {
		_, err := pack.Describe(tree(tt.files), mustRef(t, "./near"))
		if err == nil || !strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != tt.code {
			t.Errorf("%s: %v (%s), want %s (%s)", tt.name, err, diag.CodeOf(err), tt.want, tt.code)
		}
	}
	link := tree("a/SKILL.md: a")
	link["b/SKILL.md"] = &fstest.MapFile{Data: []byte("/etc/passwd"), Mode: fs.ModeSymlink}
	c, err := pack.Describe(link, mustRef(t, "./near"))
	if err != nil || len(c.Skills) != 1 || !strings.Contains(strings.Join(c.Skipped, ""), "skipped b/SKILL.md: not a regular file") {
		t.Errorf("a link: %+v, %v", c, err)
	}
}

// lazyFS counts reads, and fails for files that a pack's description does not need.
type lazyFS struct {
	fstest.MapFS
	read map[string]int
}

func (f lazyFS) Open(name string) (fs.File, error) {
	switch base := path.Base(name); {
	case base == "SKILL.md", name == "skillpm.yaml", name == ".skillpmignore":
		f.read[name]++
	default:
		if info, err := f.Stat(name); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s is read and need not be", name)
		}
	}
	return f.MapFS.Open(name)
}

func (f lazyFS) ReadFile(name string) ([]byte, error) {
	f.read[name]++
	if path.Base(name) != "SKILL.md" && name != "skillpm.yaml" && name != ".skillpmignore" {
		return nil, fmt.Errorf("%s is read and need not be", name)
	}
	return f.MapFS.ReadFile(name)
}

// TestDescribeIsLazy checks that describing a source reads its SKILL.md files once and no other file, so that a git
// server receives no other requests.
func TestDescribeIsLazy(t *testing.T) {
	f := lazyFS{read: make(map[string]int), MapFS: tree(`
		skillpm.yaml: name: acme/deploy\n
		a/SKILL.md: a
		a/scripts/run.sh: x
		b/SKILL.md: b
		data.bin: x`)}
	if _, err := pack.Describe(f, mustRef(t, "./near")); err != nil {
		t.Fatal(err)
	}
	for name := range maps.Keys(f.read) {
		if f.read[name] > 1 {
			t.Errorf("%s is read %d times", name, f.read[name])
		}
	}
}

func BenchmarkDescribe(b *testing.B) {
	var lines strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&lines, "skills/s-%d/SKILL.md: s-%d\nskills/s-%d/references/a.md: x\nskills/s-%d/scripts/run.sh: x\n", i, i, i, i)
	}
	fsys, ref := tree(lines.String()), mustRef(b, "./near")
	for b.Loop() {
		if c, err := pack.Describe(fsys, ref); err != nil || len(c.Skills) != 1000 {
			b.Fatal(err)
		}
	}
}

// crowd is a file system in which every directory contains ten others.
type crowd struct{ fs.FS }

func (c crowd) ReadDir(name string) ([]fs.DirEntry, error) {
	var entries []fs.DirEntry
	for i := range 10 {
		entries = append(entries, fs.FileInfoToDirEntry(crowdDir(strconv.Itoa(i))))
	}
	return entries, nil
}

type crowdDir string

func (d crowdDir) Name() string     { return string(d) }
func (crowdDir) Size() int64        { return 0 }
func (crowdDir) Mode() fs.FileMode  { return fs.ModeDir | 0o755 }
func (crowdDir) ModTime() time.Time { return time.Time{} }
func (crowdDir) IsDir() bool        { return true }
func (crowdDir) Sys() any           { return nil }

// TestDescribeWithoutEnd checks that a source that is too large to walk is rejected at a limit.
func TestDescribeWithoutEnd(t *testing.T) {
	_, err := pack.Describe(crowd{fstest.MapFS{}}, mustRef(t, "./near"))
	if diag.CodeOf(err) != diag.Invalid || !strings.Contains(fmt.Sprint(err), "nested more than 64 levels deep") || diag.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
}
