package runtime_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/runtime"
)

// researcher runs tasks: here, the "model" answers with the last word of its instructions.
type researcher struct{}

func (researcher) Run(_ context.Context, t runtime.Task) (runtime.TaskResult, error) {
	words := strings.Fields(t.Body)
	return runtime.TaskResult{Output: t.Skill + " about " + words[len(words)-1]}, nil
}

// Example_agent is a small agent: it lists skills, activates one, checks tool calls, reads a file, runs a script, and
// runs a skill apart from the conversation.
func Example_agent() {
	dir, ctx := agentSkills(), context.Background()
	defer os.RemoveAll(dir)
	h, err := runtime.Open(ctx, dir, runtime.WithSession("chat-1"), runtime.WithRunner(researcher{}, nil))
	if err != nil {
		log.Fatal(err)
	}
	skills, err := h.Skills(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range skills {
		fmt.Println(k.Name+":", k.Description)
	}
	a, err := h.Load(ctx, "greet", runtime.Activate{Arguments: "Ada"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(a.Body, a.Tools.Entries(), "\n")
	for _, tool := range []string{"Read", "Write"} {
		v, err := h.Allow(ctx, runtime.ToolCall{Tool: tool})
		fmt.Println(tool, v.Allowed, err)
	}
	file, err := h.Read(ctx, "greet", "words.md")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(file.Data))
	res, err := h.Run(ctx, "greet", runtime.RunOptions{Script: "hello.sh"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(res.Stdout))
	fork, err := h.Load(ctx, "research", runtime.Activate{Arguments: "owls"})
	if err != nil {
		log.Fatal(err)
	}
	end, err := h.Wait(ctx, fork.TaskID)
	fmt.Println(end.Result.Output, err)
	// Output:
	// greet: Greets.
	// research: Finds out.
	// Say hello to Ada.
	// [Read]
	// Read true <nil>
	// Write false <nil>
	// Hello, hi.
	// hello
	// research about owls <nil>
}

// agentSkills makes a new home directory with a project that has two skills, and returns the project.
func agentSkills() (dir string) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"} {
		if err := os.Setenv(name, filepath.Join(dir, "home")); err != nil {
			log.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"greet/SKILL.md":    "---\nname: greet\ndescription: Greets.\nallowed-tools: Read\n---\nSay hello to $ARGUMENTS.\n",
		"greet/words.md":    "Hello, hi.\n",
		"greet/hello.sh":    "#!/bin/sh\necho hello\n",
		"research/SKILL.md": "---\nname: research\ndescription: Finds out.\ncontext: fork\n---\nFind out about $ARGUMENTS\n",
	} {
		path := filepath.Join(dir, ".skillpm", "skills", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			log.Fatal(err)
		}
	}
	return dir
}
