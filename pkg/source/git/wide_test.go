package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// wide returns a tree with files, and further entries at its end.
func wide(r *gittest.Repo, files int, blob string, more ...gittest.Entry) gittest.Entry {
	entries := make([]gittest.Entry, 0, files+len(more))
	for i := range files {
		entries = append(entries, gittest.Entry{Mode: "100644", Name: fmt.Sprintf("f%06d", i), ID: blob})
	}
	return gittest.Entry{Mode: "40000", Name: "w", ID: r.RawTree(append(entries, more...)...)}
}

// TestWideTrees checks that the entries of trees are limited when they are parsed, and that no tree is parsed twice:
// trees of many files, wide ones in wide ones, and one that is referenced many times, however the objects are fetched.
func TestWideTrees(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	main := gittest.Entry{Mode: "100644", Name: "SKILL.md", ID: r.Blob(gittest.Skill("deploy", "Deploys."))}
	skill := gittest.Entry{Mode: "40000", Name: "s", ID: r.RawTree(main)}
	blob := r.Blob("x")
	nested := wide(r, 90_000, blob)
	for range 3 {
		nested = wide(r, 90_000, blob, nested)
	}
	var distinct, same []gittest.Entry
	one := wide(r, 50_000, blob)
	for i := range 25 {
		distinct = append(distinct, wide(r, 50_000+i, blob))
		same = append(same, one)
		distinct[i].Name, same[i].Name = "d"+strconv.Itoa(10+i), "d"+strconv.Itoa(10+i)
	}
	const tooWide = "the repository is too large: a directory has more than 100000 entries"
	tests := []struct{ name, tree, want string }{
		{"flat", r.RawTree(main, wide(r, 400_000, blob)), tooWide},
		{"root", wide(r, 100_001, blob, main).ID, tooWide},
		{"below", r.RawTree(main, wide(r, 10, blob, wide(r, 100_001, blob))), tooWide},
		{"nested", r.RawTree(main, nested), "exceeds the limit of 100000 files"},
		{"distinct", r.RawTree(append(distinct, skill)...), "more than 1000000"},
		{"same", r.RawTree(append(same, skill)...), "more than 1000000"},
	}
	for _, tt := range tests {
		r.CommitTree(tt.name, tt.tree)
	}
	r.Run("repack", "-adq")
	for _, how := range []string{"file", "http", "filter", "program"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			o, base := Options{Cache: t.TempDir()}, "file://"+dir
			switch how {
			case "http":
				base = gittest.Serve(t, dir)
			case "filter":
				base = gittest.Serve(t, dir, gittest.WithFilter())
			case "program":
				base, o.Program = gittest.Serve(t, dir), gittest.Git(t)
			}
			for _, tt := range tests {
				if how != "http" && tt.name != "flat" && tt.name != "same" {
					continue // the others take a minute, and differ only in where the limit is reached
				}
				c := New(o)
				p, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindGit, URL: base + "/o/r.git", Rev: tt.name})
				if err == nil {
					err = c.Fetch(t.Context(), p, nil, bundle.NewHasher(bundle.DefaultLimits()))
				}
				if diag.CodeOf(err) != diag.Invalid || !strings.Contains(fmt.Sprint(err), tt.want) {
					t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
				}
				for _, k := range c.commits {
					sum := 0
					for _, nodes := range k.trees {
						sum += len(nodes)
					}
					if sum > maxTreeEntries || sum != k.entries && k.entries <= maxTreeEntries {
						t.Errorf("%s: %d entries in memory, %d parsed", tt.name, sum, k.entries)
					}
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestManyRefs checks that a server with too many branches and tags is refused, and that the most allowed are sorted
// with few comparisons. Later requests do not see the refused list.
func TestManyRefs(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	id := r.Commit(gittest.Text(map[string]string{"SKILL.md": gittest.Skill("r", "R.")}))
	var list strings.Builder
	list.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for i := range maxListed + 1 {
		fmt.Fprintf(&list, "%s refs/tags/v%d.%d.%d\n", id, i/10000+1, i/100%100, i%100)
	}
	if err := os.WriteFile(filepath.Join(r.Dir, "packed-refs"), []byte(list.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	url := gittest.Serve(t, dir)
	for how, program := range programs(t) {
		c := New(Options{Cache: t.TempDir(), Program: program})
		for _, rev := range []string{"", "none"} {
			_, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindGit, URL: url + "/o/r.git", Rev: rev})
			if diag.CodeOf(err) != diag.Invalid || !strings.Contains(fmt.Sprint(err), "more than 200000 branches and tags") {
				t.Errorf("%s: %q: %v", how, rev, err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestUnknownCommits requests commits that a server does not have, as the first operation of a client, with and without
// all files, and by all programs: the references of the server are not known yet.
func TestUnknownCommits(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	r.Commit(gittest.Text(map[string]string{"SKILL.md": gittest.Skill("r", "R.")}))
	for _, options := range [][]gittest.Option{nil, {gittest.WithFilter()}, {gittest.WithoutAnyCommit()}} {
		url := gittest.Serve(t, dir, options...)
		for how, program := range programs(t) {
			for _, commit := range []string{
				strings.Repeat("0", 40), strings.Repeat("f", 40), "0000000000000000000000000000000000000001", r.Blob("x"),
			} {
				ref := pack.Ref{Kind: pack.KindGit, URL: url + "/o/r.git", Rev: commit}
				for what, read := range map[string]func(c *Client) error{
					"open": func(c *Client) error { _, err := c.Open(t.Context(), ref); return err },
					"tree": func(c *Client) error { _, _, err := c.Tree(t.Context(), ref); return err },
					"tag":  func(c *Client) error { _, _, _, err := c.SignedTag(t.Context(), ref); return err },
					"fetch": func(c *Client) error {
						return c.Fetch(t.Context(), &pack.Pack{Ref: ref}, nil, bundle.NewHasher(bundle.DefaultLimits()))
					},
					"checkout": func(c *Client) error { _, err := c.Pin(t.Context(), ref); return err },
				} {
					c := New(Options{Cache: t.TempDir(), Program: program})
					err := read(c)
					if code := diag.CodeOf(err); code != diag.NotFound && code != diag.Invalid && (what != "checkout" || err != nil) {
						t.Errorf("%s: %s of %s: %v (%v)", how, what, commit, err, code)
					}
					if err := c.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}
