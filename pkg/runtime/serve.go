package runtime

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/skillpm/skillpm/pkg/internal/run"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

// Skills returns the available skills, sorted by name.
func (h *Host) Skills(ctx context.Context) ([]*catalog.Skill, error) {
	c, err := h.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	return c.Skills(), nil
}

// UserInvocable returns the skills that a user may start, for a menu or for completion.
func (h *Host) UserInvocable(ctx context.Context) ([]*catalog.Skill, error) {
	c, err := h.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	return c.UserInvocable(), nil
}

// Lookup returns the skill with a name: the bare name, or name@owner/name for the skill of a pack.
func (h *Host) Lookup(ctx context.Context, name string) (*catalog.Skill, error) {
	c, err := h.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	return c.Lookup(name)
}

// Entries returns the available skills that the model may start, as entries of a listing.
func (h *Host) Entries(ctx context.Context) ([]prompt.Entry, error) {
	c, err := h.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	return h.EntriesOf(ctx, c), nil
}

// EntriesOf returns the skills of a catalog that a model may start, as entries of a listing.
func (h *Host) EntriesOf(ctx context.Context, c *catalog.Catalog) []prompt.Entry {
	uses := h.uses(ctx)
	entries := make([]prompt.Entry, 0, len(c.Skills()))
	for _, k := range c.Skills() {
		if !k.ModelInvocable {
			continue
		}
		entries = append(entries, prompt.Entry{
			Name: k.Name, Description: k.Description, WhenToUse: k.WhenToUse, Dir: k.Dir,
			Location: filepath.Join(k.Dir, "SKILL.md"),
			Layer:    k.Layer, Pack: k.Pack, Rank: k.Rank, Tags: k.Tags,
			Used: uses[use{k.Name, k.Pack}], Project: k.Scope == catalog.ScopeProject,
		})
	}
	return entries
}

// Prompt returns the list of skills for the system prompt, within the budget that the options set.
func (h *Host) Prompt(ctx context.Context, o prompt.Options) (prompt.Listing, error) {
	entries, err := h.Entries(ctx)
	if err != nil {
		return prompt.Listing{}, err
	}
	return prompt.List(h.profile, entries, o)
}

// Load activates a skill, and returns its instructions with arguments inserted, or the id of the task that runs it. See
// [session.Session.Activate].
func (h *Host) Load(ctx context.Context, name string, o session.Activate) (*session.Activation, error) {
	return h.session.Activate(ctx, name, o)
}

// Allow decides whether the agent may make a tool call now. The call is denied after an error, too. See
// [session.Session.Allow].
func (h *Host) Allow(ctx context.Context, c ToolCall) (Verdict, error) {
	return h.session.Allow(ctx, c)
}

// End ends the skill with this name that the model started, or with "" the last one. See
// [session.Session.Deactivate].
func (h *Host) End(ctx context.Context, name string) (ended []string, err error) {
	return h.session.Deactivate(ctx, name, Model)
}

// Body returns a skill's instructions with arguments inserted, and activates nothing. See [session.Session.Body].
func (h *Host) Body(ctx context.Context, name, arguments string) (string, error) {
	return h.session.Body(ctx, name, arguments)
}

// Read returns one file of a skill. See [session.Session.Read].
func (h *Host) Read(ctx context.Context, name, file string) (*session.File, error) {
	return h.session.Read(ctx, name, file)
}

// Run runs a script of a skill, or its command. See [session.Session.Run].
func (h *Host) Run(ctx context.Context, name string, o session.RunOptions) (*run.Result, error) {
	return h.session.Run(ctx, name, o)
}

// Failed returns the result that reports an error of the skill with this name.
func (h *Host) Failed(name string, err error) prompt.Result {
	r := prompt.Result{Kind: prompt.Failed, Name: name, Err: err, Started: h.o.Now()}
	if unknown, ok := errors.AsType[*catalog.UnknownError](err); ok {
		r.Kind, r.Available = prompt.Unknown, unknown.Available
	}
	return r
}

// The values of [Message].Kind.
const (
	Plain   = "message" // the text goes to the model unchanged
	Skill   = "skill"   // a skill's instructions go to the model
	Spawned = "task"    // a task runs the skill
)

// Message is a user's message and how the agent must handle it.
type Message struct {
	Kind       string // Plain, Skill or Spawned
	Skill      string // the skill's name, "" for Plain
	Text       string // text for the model; for Spawned, text for the user
	TaskID     string // set for Spawned
	Activation *session.Activation
}

// Message handles a message of the user. A text that begins with /name activates that skill: the result has the text
// for the model, or the id of a task. Names that the agent reserves, and names of no skill, make an ordinary message.
func (h *Host) Message(ctx context.Context, text string, o session.Activate) (*Message, error) {
	message := &Message{Kind: Plain, Text: text}
	name, arguments, ok := slash(text)
	if !ok || slices.Contains(h.profile.Reserved, name) {
		return message, nil
	}
	c, err := h.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := c.Lookup(name); err != nil {
		if unknown, ok := errors.AsType[*catalog.UnknownError](err); ok && !unknown.Denied {
			return message, nil
		}
		return nil, err
	}
	o.Trigger, o.Arguments = session.User, arguments
	a, err := h.session.Activate(ctx, name, o)
	if err != nil {
		return nil, err
	}
	m := &Message{Kind: Skill, Skill: a.Skill.Name, TaskID: a.TaskID, Activation: a}
	if m.TaskID != "" {
		m.Kind, m.Text = Spawned, prompt.Text(h.profile, a.Result())
	} else {
		m.Text = prompt.Message(h.profile, a.Result())
	}
	return m, nil
}

// slash splits a message that begins with /name. A path such as /etc/hosts gives a name with slashes, which no skill
// has.
func slash(text string) (name, arguments string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeftFunc(text, unicode.IsSpace), "/")
	if !ok {
		return "", "", false
	}
	end := strings.IndexFunc(rest, unicode.IsSpace)
	if end < 0 {
		end = len(rest)
	}
	name, arguments = rest[:end], strings.TrimSpace(rest[end:])
	return name, arguments, name != ""
}
