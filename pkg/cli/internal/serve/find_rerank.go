package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/internal/run"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
)

// The bounds of a command that ranks skills.
const (
	maxReranked      = 20       // skills
	maxRerankedBody  = 16 << 10 // bytes of the instructions of each
	maxRerankOutput  = 1 << 20  // bytes
	maxRerankMessage = 300      // bytes of its standard error in an error
	rerankLimit      = 30 * time.Second
)

// rerankInput is what the command reads.
type rerankInput struct {
	Task   string        `json:"task"`
	Skills []rerankSkill `json:"skills"`
}

type rerankSkill struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Score       float64 `json:"score"`
	Body        string  `json:"body"`
}

// rerankOutput is what the command prints.
type rerankOutput struct {
	Skills []struct {
		ID    string   `json:"id"`
		Score *float64 `json:"score"`
	} `json:"skills"`
}

// rerank returns the best matches that a command keeps, in its order.
func (a *app) rerank(
	ctx context.Context, command, task string, skills []*catalog.Skill, matches []catalog.Match,
) ([]catalog.Match, error) {
	words := skill.SplitArguments(command)
	if len(words) == 0 {
		return nil, diag.Errorf(diag.Usage, "--rerank needs a command")
	}
	matches = matches[:min(len(matches), maxReranked)]
	if len(matches) == 0 {
		return nil, nil
	}
	in := rerankInput{Task: task}
	for i, m := range matches {
		k := skills[m.Index]
		one := rerankSkill{ID: strconv.Itoa(i + 1), Name: m.Name, Description: k.Description, Score: m.Score}
		if loaded, err := k.Load(); err == nil { // a skill that was removed meanwhile has no instructions
			one.Body = textx.Prefix(loaded.Body, maxRerankedBody)
		}
		in.Skills = append(in.Skills, one)
	}
	data, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	output, err := a.runRerank(ctx, words, data)
	if err != nil {
		return nil, err
	}
	return reranked(words[0], output, matches)
}

// runRerank runs the command and returns its standard output. All processes that it started end with it.
func (a *app) runRerank(ctx context.Context, words []string, input []byte) ([]byte, error) {
	dir, err := a.WorkDir()
	if err != nil {
		return nil, err
	}
	r, err := run.Run(ctx, run.Command{
		Argv: words, Dir: dir, Env: a.Environ(), Stdin: bytes.NewReader(input), Limit: rerankLimit,
		MaxOutput: maxRerankOutput,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot run the --rerank command: %w", err)
	}
	name := console.Flat(words[0])
	switch {
	case r.TimedOut:
		return nil, diag.Errorf(diag.Remote, "the --rerank command %s did not end within %s", name, rerankLimit)
	case r.ExitCode != 0:
		text := fmt.Sprintf("exit code %d", r.ExitCode)
		if len(r.Stderr) > 0 {
			text += ": " + textx.Truncate(string(r.Stderr), maxRerankMessage)
		}
		return nil, diag.Errorf(diag.Invalid, "the --rerank command %s failed: %s", name, console.Flat(text))
	case r.Truncated:
		return nil, invalidRerank(name, "it is longer than "+strconv.Itoa(maxRerankOutput)+" bytes")
	}
	return r.Stdout, nil
}

// reranked returns the matches that the output of a command lists.
func reranked(command string, output []byte, matches []catalog.Match) ([]catalog.Match, error) {
	name := console.Flat(command)
	var out rerankOutput
	if err := jsonx.Decode(output, &out, jsonx.Options{}); err != nil {
		return nil, invalidRerank(name, console.Flat(err.Error()))
	}
	if out.Skills == nil {
		return nil, invalidRerank(name, "it does not have a list \"skills\"")
	}
	var kept []catalog.Match
	seen := map[int]bool{}
	for _, s := range out.Skills {
		n, err := strconv.Atoi(s.ID)
		switch {
		case err != nil || n < 1 || n > len(matches) || strconv.Itoa(n) != s.ID:
			return nil, invalidRerank(name, "unknown id "+strconv.Quote(textx.Truncate(s.ID, 40)))
		case seen[n]:
			return nil, invalidRerank(name, "the id "+s.ID+" appears twice")
		case s.Score != nil && !(*s.Score >= 0 && *s.Score <= 1):
			return nil, invalidRerank(name, "the score of id "+s.ID+" is not between 0 and 1")
		}
		seen[n] = true
		m := matches[n-1]
		if s.Score != nil {
			m.Score = *s.Score
		}
		kept = append(kept, m)
	}
	return kept, nil
}

func invalidRerank(name, why string) error {
	return diag.Errorf(diag.Invalid, "the output of the --rerank command %s is invalid: %s", name, why).
		WithHint("show the format with: skillpm find --help")
}
