package serve

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// toolFormat is the format for tool definitions, which is not a layout.
const toolFormat = "tool"

type promptFlags struct {
	*console.RuntimeFlags
	prompt.Options
	navigation, toolCalling bool
}

func newPrompt(a *app) *cobra.Command {
	f := &promptFlags{}
	cmd := &cobra.Command{
		Use:   "prompt",
		Short: "Print the skill catalog for an agent",
		Long: `The catalog lists the available skills with their descriptions, in the form that the
profile's agent gives to its model: in a system prompt, or in the description of a tool.
The catalog does not contain skills that only users may activate.

--budget limits the number of characters. The default depends on the agent of the profile:
pegasus and claude-code use a share of --context-window (four characters per token), or a
fixed number if the context window is unknown. omniforge lists at most 1,000 bytes, and
other agents list all skills. If the catalog is too long, skillpm shortens descriptions,
and then leaves out names: first those that were used least. pegasus leaves out skills of
the lowest layer first. The catalog and warnings report that.

The default of --format is the format of the profile. text, xml, and json work for every
profile. tool prints the definitions of the agent's tools as JSON. --compact prints less
than 1 KB for any number of skills: counts, categories, and how to find a skill.

--navigation and --tool-calling print texts that teach a model to read skills and to call
tools.`,
		Example: `  skillpm prompt
  skillpm prompt --profile claude-code --context-window 200000
  skillpm prompt --format tool > tools.json
  skillpm prompt --tool-calling --navigation >> system-prompt.md`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.printPrompt(cmd, f) },
	}
	f.RuntimeFlags = a.RuntimeFlags(cmd)
	flags := cmd.Flags()
	flags.IntVar(&f.Budget, "budget", 0, "print at most `N` characters")
	flags.IntVar(&f.ContextWindow, "context-window", 0, "assume a context window of `TOKENS`")
	flags.StringVar(&f.Format, "format", "",
		"print as `FORMAT`: text, xml, json, tool, or a format of the profile")
	flags.BoolVar(&f.Compact, "compact", false, "print a summary of less than 1 KB for any number of skills")
	flags.BoolVar(&f.navigation, "navigation", false, "print how to read a skill")
	flags.BoolVar(&f.toolCalling, "tool-calling", false, "print how to call tools")
	a.CompleteFlag(cmd, "budget", cobra.NoFileCompletions)
	a.CompleteFlag(cmd, "context-window", cobra.NoFileCompletions)
	a.CompleteFlag(cmd, "format", a.completePromptFormats)
	return cmd
}

// completePromptFormats completes the formats of the selected profile.
func (a *app) completePromptFormats(cmd *cobra.Command, _ []string, prefix string) ([]string,
	cobra.ShellCompDirective,
) {
	formats := []string{toolFormat}
	if h := a.CompletionHost(cmd); h != nil {
		formats = append(prompt.Formats(h.Profile()), formats...)
	}
	return console.Matching(formats, prefix), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) printPrompt(cmd *cobra.Command, f *promptFlags) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.navigation || f.toolCalling {
		return a.printTexts(f)
	}
	h, err := a.Host(cmd.Context(), f.RuntimeFlags)
	if err != nil {
		return err
	}
	if known := append(prompt.Formats(h.Profile()), toolFormat); f.Format != "" && !slices.Contains(known, f.Format) {
		hint := "use " + textx.OneOf(known)
		if near := diag.Nearest(f.Format, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		return diag.Errorf(diag.Usage, "unknown --format %q", f.Format).WithHint("%s", hint)
	}
	a.budget(h.Profile(), &f.Options)
	entries, err := h.Entries(cmd.Context())
	if err != nil {
		return err
	}
	stage1Output, err := a.stage1(h.Profile(), entries, f.Options)
	if err != nil {
		return err
	}
	if err := a.warnSkills(cmd.Context(), h); err != nil {
		return err
	}
	a.warnOmitted(h.Profile(), stage1Output.Listing)
	switch {
	case a.JSON:
		return a.PrintJSON(stage1Output.document(h.Profile(), entries))
	case f.Format == toolFormat:
		return a.PrintForeign(stage1Output.tools)
	}
	a.ForModel(stage1Output.Text)
	return a.hintNone(cmd.Context(), h, entries)
}

// check rejects conflicting flags.
func (f *promptFlags) check(cmd *cobra.Command) error {
	for name, n := range map[string]int{"budget": f.Budget, "context-window": f.ContextWindow} {
		if cmd.Flags().Changed(name) && n < 1 {
			return diag.Errorf(diag.Usage, "--%s must be at least 1, not %d", name, n)
		}
	}
	if f.Compact && f.Format != "" {
		return diag.Errorf(diag.Usage, "--compact cannot be used with --format %s", f.Format)
	}
	if f.navigation || f.toolCalling {
		for _, name := range []string{"budget", "context-window", "format", "compact"} {
			if cmd.Flags().Changed(name) {
				return diag.Errorf(diag.Usage,
					"--navigation and --tool-calling cannot be used with --%s", name).
					WithHint("run \"skillpm prompt\" once for the text, and once for the catalog")
			}
		}
	}
	return nil
}

// printTexts prints the texts that are the same for all models.
func (a *app) printTexts(f *promptFlags) error {
	var texts textsDocument
	var all []string
	if f.toolCalling {
		texts.ToolCalling = prompt.ToolCalling()
		all = append(all, prompt.ToolCalling())
	}
	if f.navigation {
		texts.Navigation = prompt.Navigation()
		all = append(all, prompt.Navigation())
	}
	if a.JSON {
		return a.PrintJSON(texts)
	}
	a.ForModel(strings.Join(all, "\n\n"))
	return nil
}

// budget reads the budget from the agent's environment variable, unless a flag sets it.
func (a *app) budget(p *profile.Profile, o *prompt.Options) {
	variable := p.Stage1.Budget.Variable
	if o.Budget > 0 || variable == "" {
		return
	}
	text := a.Getenv(variable)
	if text == "" {
		return
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		a.Warn("ignored %s: %q is not a number of characters", variable, text)
		return
	}
	o.Budget = n
}

// stage1Output is the output of stage 1.
type stage1Output struct {
	prompt.Listing
	tools []prompt.Tool
}

func (a *app) stage1(p *profile.Profile, entries []prompt.Entry, o prompt.Options) (stage1Output, error) {
	if o.Format != toolFormat {
		l, err := prompt.List(p, entries, o)
		return stage1Output{Listing: l}, err
	}
	o.Format = ""
	tools, l, err := prompt.Tools(p, entries, o)
	if tools == nil {
		tools = []prompt.Tool{}
	}
	return stage1Output{l, tools}, err
}

// warnSkills warns about too many skills and about invalid ones; "skillpm skills" has the details.
func (a *app) warnSkills(ctx context.Context, h *runtime.Host) error {
	c, err := h.Catalog(ctx)
	if err != nil {
		return err
	}
	wrong := 0
	for _, f := range c.Findings() {
		if f.Path == "" {
			a.Warn("%s (%s)", f.Message, f.Fix)
		} else if f.Rule != catalog.RuleConflict { // installation and "skillpm skills" report it
			wrong++
		}
	}
	if wrong > 0 {
		a.Warn("found %s in skills; show details with: skillpm skills", textx.Count(wrong, "problem"))
	}
	return nil
}

// warnOmitted warns about skills that exceed the budget.
func (a *app) warnOmitted(p *profile.Profile, l prompt.Listing) {
	if n := len(l.Left); n > 0 {
		a.Warn("left out %s to stay within %d characters: %s", textx.Count(n, "skill"), l.Limit, some(l.Left))
	}
	if n := len(l.Shortened); n > 0 {
		a.Warn("shortened or left out %s: %s", textx.Count(n, "description"), some(l.Shortened))
	}
	if len(l.Left) > 0 && len(l.Names) == 0 {
		a.Warn("the catalog does not list skills: use --compact to print a text of less than 1 KB about how to find skills")
	}
	if l.Over {
		a.Warn("%s lists every name, but the names alone exceed %d characters", p.Title, l.Limit)
	}
}

// some formats the first of many names.
func some(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + ", and " + strconv.Itoa(len(names)-most) + " more"
}

// hintNone prints a hint if nothing is listed.
func (a *app) hintNone(ctx context.Context, h *runtime.Host, entries []prompt.Entry) error {
	if len(entries) > 0 {
		return nil
	}
	c, err := h.Catalog(ctx)
	if err != nil {
		return err
	}
	if len(c.Skills()) > 0 {
		a.Note("The list for the model is empty: only users can activate the available skills.")
	} else {
		a.Note("%s", noSkills(h, c))
	}
	return nil
}

// promptSkill is a skill in a JSON listing.
type promptSkill struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	WhenToUse   string   `json:"whenToUse,omitempty"`
	Directory   string   `json:"directory"`
	Location    string   `json:"location"`
	Layer       string   `json:"layer"`
	Pack        string   `json:"pack,omitempty"`
	Tags        []string `json:"tags,omitempty"`
}

// promptDocument is a JSON listing.
type promptDocument struct {
	Profile    string        `json:"profile"`
	Place      string        `json:"place"`
	Text       string        `json:"text"`
	Characters int           `json:"characters"`
	Limit      int           `json:"limit"` // 0 if unlimited
	Skills     []promptSkill `json:"skills"`
	Left       []string      `json:"left"`
	Shortened  []string      `json:"shortened"`
	Tools      []prompt.Tool `json:"tools,omitempty"`
}

func (s stage1Output) document(p *profile.Profile, entries []prompt.Entry) promptDocument {
	d := promptDocument{
		Profile: p.ID, Place: p.Stage1.Place, Text: s.Text, Characters: len([]rune(s.Text)), Limit: s.Limit,
		Skills: []promptSkill{}, Left: append([]string{}, s.Left...), Shortened: append([]string{}, s.Shortened...),
		Tools: s.tools,
	}
	listed := map[string]bool{}
	for _, name := range s.Names {
		listed[name] = true
	}
	for _, e := range entries {
		if listed[e.Name] {
			d.Skills = append(d.Skills, promptSkill{
				e.Name, e.Description, e.WhenToUse, e.Dir, e.Location, e.Layer,
				e.Pack, e.Tags,
			})
		}
	}
	return d
}
