package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// skills writes two skill directories below a new directory, for a program with its own skills.
func skills() (dir string) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string]string{
		"builtin/commit/SKILL.md":  "---\ndescription: Commits changes.\ndisable-model-invocation: true\n---\nRun git commit.\n",
		"builtin/review/SKILL.md":  "---\ndescription: Reviews changes. Use before a merge.\nallowed-tools: Read, Bash(git:*)\n---\nReview $0, mind $ARGUMENTS[1].\n",
		"user/review/SKILL.md":     "---\ndescription: Reviews changes our way.\nallowed-tools: Read, Bash(git:*)\n---\nReview $0, mind $ARGUMENTS[1].\n",
		"user/review/style.md":     "Tabs.\n",
		"user/convention/SKILL.md": "---\ndescription: How code is written here.\nuser-invocable: false\n---\nUse Go.\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			log.Fatal(err)
		}
	}
	return dir
}

// open serves the skills of a directory with the profile pegasus.
func open(dir, sessionID string) *runtime.Host {
	paths, err := scope.New(scope.Env{Home: filepath.Join(dir, "home"), OS: "linux"})
	if err != nil {
		log.Fatal(err)
	}
	h, err := runtime.New(context.Background(), runtime.Options{
		Environment: environ.Environment{Paths: paths, Dir: dir, Now: time.Now}, Profile: "pegasus", Session: sessionID,
		Layers: []profile.Layer{ // the stronger one first
			{Name: "user", Dirs: []string{filepath.Join(dir, "user")}},
			{Name: "builtin", Dirs: []string{filepath.Join(dir, "builtin")}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	return h
}

// Example shows SPEC P11: all skills of some directories. A skill in the stronger directory replaces the other as a
// whole.
func Example() {
	dir := skills()
	defer os.RemoveAll(dir)
	h := open(dir, "")
	all, err := h.Skills(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range all {
		fmt.Printf("%s (%s): %s\n", k.Name, k.Layer, k.Description)
	}
	// Output:
	// commit (builtin): Commits changes.
	// convention (user): How code is written here.
	// review (user): Reviews changes our way.
}

// Example_parseFile shows SPEC P11: one file, without a catalog.
func Example_parseFile() {
	dir := skills()
	defer os.RemoveAll(dir)
	p, err := profile.Lookup("pegasus")
	if err != nil {
		log.Fatal(err)
	}
	k, err := catalog.ParseFile(filepath.Join(dir, "builtin", "commit", "SKILL.md"), p)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(k.Name, k.ModelInvocable, k.UserInvocable)
	// Output: commit false true
}

// ExampleHost_Lookup shows SPEC P11: the skill that a name matches, and the available skills for an unknown name.
func ExampleHost_Lookup() {
	dir := skills()
	defer os.RemoveAll(dir)
	h := open(dir, "")
	k, err := h.Lookup(context.Background(), "review")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(k.Name, k.Layer)
	_, err = h.Lookup(context.Background(), "revew")
	fmt.Println(err)
	// Output:
	// review user
	// unknown skill "revew": available skills are convention, review
}

// ExampleHost_Prompt shows SPEC P11, P5: stage 1 for a system prompt, within a budget. Skills that only users may
// activate are never in it.
func ExampleHost_Prompt() {
	dir := skills()
	defer os.RemoveAll(dir)
	h := open(dir, "")
	listing, err := h.Prompt(context.Background(), prompt.Options{ContextWindow: 200_000})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listing.Text)
	// Output:
	// Available skills:
	// - convention: How code is written here.
	// - review: Reviews changes our way.
	//
	// Use the use_skill tool to invoke a skill when relevant.
}

// ExampleHost_Body shows SPEC P11: a body with its arguments, without an activation.
func ExampleHost_Body() {
	dir := skills()
	defer os.RemoveAll(dir)
	body, err := open(dir, "").Body(context.Background(), "review", `main "the tests"`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(body)
	// Output: Review main, mind the tests.
}

// ExampleHost_UserInvocable shows SPEC P11: the entries of a menu or a completion.
func ExampleHost_UserInvocable() {
	dir := skills()
	defer os.RemoveAll(dir)
	all, err := open(dir, "").UserInvocable(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range all {
		fmt.Println("/" + k.Name)
	}
	// Output:
	// /commit
	// /review
}

// ExampleHost_Load shows SPEC P7: the answer of the tool use_skill, and the calls that are allowed afterwards.
func ExampleHost_Load() {
	dir := skills()
	defer os.RemoveAll(dir)
	ctx := context.Background()
	h := open(dir, "session-1")
	a, err := h.Load(ctx, "review", session.Activate{Arguments: "main tests"})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := prompt.JSON(h.Profile(), a.Result())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(answer))

	v, err := h.Session().Allow(ctx, tool.Call{Tool: "Write"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Allowed, v.Skill)

	if _, err := h.Session().Deactivate(ctx, "review", session.User); err != nil {
		log.Fatal(err)
	}
	v, err = h.Session().Allow(ctx, tool.Call{Tool: "Write"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Allowed)

	_, err = h.Load(ctx, "deploy", session.Activate{})
	answer, jsonErr := prompt.JSON(h.Profile(), h.Failed("deploy", err))
	if jsonErr != nil {
		log.Fatal(jsonErr)
	}
	fmt.Println(string(answer))
	// Output:
	// {"success":true,"result":"Review main, mind tests.\n","allowed-tools":["Read","Bash(git:*)"],"restriction":"While skill review is active, only these tools are allowed: Bash(git:*), Read; it ends when another skill follows, or with the session."}
	// false review
	// true
	// {"success":false,"error":"Skill \"deploy\" not found"}
}

// ExampleHost_Read shows SPEC P6: stage 3, one file of a skill.
func ExampleHost_Read() {
	dir := skills()
	defer os.RemoveAll(dir)
	h := open(dir, "")
	file, err := h.Read(context.Background(), "review", "style.md")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(file.Data))
	_, err = h.Read(context.Background(), "review", "../../secret")
	fmt.Println(err)
	// Output:
	// Tabs.
	// "../../secret" is not a path inside skill "review"
}

// ExampleHost_Message shows SPEC P8: a user's message.
func ExampleHost_Message() {
	dir := skills()
	defer os.RemoveAll(dir)
	h := open(dir, "")
	for _, text := range []string{"/commit", "/help", "/no-such thing", "hello"} {
		m, err := h.Message(context.Background(), text, session.Activate{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %q\n", m.Kind, m.Text)
	}
	_, err := h.Message(context.Background(), "/convention", session.Activate{})
	fmt.Println(err)
	// Output:
	// skill "[Skill: commit]\n\nRun git commit.\n"
	// message "/help"
	// message "/no-such thing"
	// message "hello"
	// users cannot activate skill "convention": its frontmatter has user-invocable: false
}
