package git_test

import (
	"context"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// TestProgram checks that the git binary fetches the same content as the built-in client, from every kind of server and
// for every kind of revision.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	first := r.Commit(skills())
	r.AnnotatedTag("v1.0.0", first)
	r.Commit(gittest.Text(map[string]string{"x/SKILL.md": gittest.Skill("x", "Another.")}))
	for name, options := range map[string][]gittest.Option{
		"plain": nil, "filter": {gittest.WithFilter()}, "strict": {gittest.WithoutAnyCommit()}, "auth": {gittest.WithAuth("me", "hunter2")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := "git+" + gittest.Serve(t, dir, options...) + "/o/r.git"
			credentials := func(context.Context, string) (string, string, error) { return "me", "hunter2", nil }
			for _, revs := range [][]string{{"", "#v1.0.0", "#main"}, {"#" + first}} { // the last one without knowledge of the references
				c := newClient(t, git.Options{Credentials: credentials})
				program := newClient(t, git.Options{Credentials: credentials, Program: gittest.Git(t)})
				for _, rev := range revs {
					p, want := fetch(t, c, parse(t, url+rev))
					q, got := fetch(t, program, parse(t, url+rev))
					if p.Ref != q.Ref || p.Version != q.Version || !maps.Equal(got, want) {
						t.Errorf("%q: %v with %v, want %v with %v", rev, q.Ref, got, p.Ref, want)
					}
				}
			}
		})
	}
}

// TestProgramErrors checks that errors with the git binary are the same as without it.
func TestProgramErrors(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(skills())
	gittest.New(t, dir, "o/empty.git")
	url := "git+" + gittest.Serve(t, dir)
	private := "git+" + gittest.Serve(t, dir, gittest.WithAuth("me", "hunter2"))
	wrong := func(context.Context, string) (string, string, error) { return "me", "s3cret", nil }
	for name, tt := range map[string]struct {
		place         string
		options       git.Options
		code          diag.Code
		message, hint string
	}{
		"no program":   {url + "/o/r.git", git.Options{Program: "no-such-git"}, diag.NotFound, "cannot find the git program no-such-git", "change the setting git"},
		"no place":     {url + "/o/missing.git", git.Options{}, diag.NotFound, "the repository does not exist, or you", ""},
		"empty":        {url + "/o/empty.git", git.Options{}, diag.NotFound, "is empty", ""},
		"no revision":  {url + "/o/r.git#mian", git.Options{}, diag.NotFound, `does not have a tag or branch "mian"`, "main"},
		"no commit":    {url + "/o/r.git#" + strings.Repeat("1", 40), git.Options{}, diag.NotFound, "does not contain the commit", ""},
		"no answer":    {"git+http://127.0.0.1:1/o/r.git", git.Options{}, diag.Remote, "127.0.0.1", ""},
		"private":      {private + "/o/r.git", git.Options{}, diag.Denied, "no credentials", ""},
		"wrong secret": {private + "/o/r.git", git.Options{Credentials: wrong}, diag.Denied, "rejected the credentials", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.options.Program == "" {
				tt.options.Program = gittest.Git(t)
			}
			tt.options.Cache = t.TempDir()
			_, err := newClient(t, tt.options).Open(t.Context(), parse(t, tt.place))
			checkError(t, err, tt.code, tt.message, tt.hint)
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%v tells the secret", err)
			}
			if found, _ := filepath.Glob(filepath.Join(tt.options.Cache, "*", "*")); len(found) > 0 {
				t.Errorf("%v is left behind", found)
			}
		})
	}
}
