package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
)

// injectCommand is the argument that measures attacks instead of time.
const injectCommand = "inject"

const injectHelp = `Count the harmful tool calls that skillpm stops. The attacks are those of skill-inject
(https://github.com/aisa-group/skill-inject), which put harmful instructions into skills.

  go run ./cmd/skillpm-bench inject --data DIR [flags]

DIR is a copy of that repository. For each attack and each of its skills, the benchmark writes
the skill with the attack into a project. Then it sends the calls of a model that obeys the
attack to "skillpm hook", as hook events of Claude Code. No call runs. If a call is denied, the model
tries others. For comparison, the calls of the unchanged skills are sent, too: the
commands in their text, and reading and writing files.

`

// injectOptions are the flags of inject.
type injectOptions struct {
	options
	data string
}

func parseInject(args []string, stdout io.Writer) (injectOptions, error) {
	var o injectOptions
	f := flag.NewFlagSet("skillpm-bench inject", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.data, "data", "", "read the attacks from the copy of skill-inject in `DIR`")
	f.StringVar(&o.parent, "dir", "", "work in a new directory below `DIR`, and remove the directory at the end "+
		"(default: the system's directory for temporary files)")
	f.BoolVar(&o.keep, "keep", false, "keep the directory with the projects")
	f.BoolVar(&o.json, "json", false, "print one JSON document with every call instead of the table")
	f.StringVar(&o.skillpm, "skillpm", "", "measure the skillpm at `PATH` (default: built from this source)")
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, injectHelp, "Flags:\n")
		f.SetOutput(stdout)
		f.PrintDefaults()
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.data == "":
		err = errors.New("--data is required")
	}
	return o, err
}

// injectReport is what was counted.
type injectReport struct {
	Skillpm string        `json:"skillpm"`
	Attacks []attackCount `json:"attacks"`
	Skills  []skillCount  `json:"skills"`
}

// attackCount has the harms of an attack in one of its skills, and which of them happen under each setting.
type attackCount struct {
	Attack string              `json:"attack"`
	Title  string              `json:"title"`
	Skill  string              `json:"skill"`
	Kind   string              `json:"kind"`
	Harms  []string            `json:"harms"`
	Done   map[string][]string `json:"done"` // by setting
}

// skillCount has the calls of a skill without an attack, and how many of them each setting denies.
type skillCount struct {
	Skill   string         `json:"skill"`
	Calls   int            `json:"calls"`
	Allowed string         `json:"allowed_tools"`         // of the setting declared
	Scripts string         `json:"allowed_tools_scripts"` // of the setting declared scripts
	Denied  map[string]int `json:"denied"`
}

func runInject(ctx context.Context, sys system) error {
	o, err := parseInject(sys.Args[1:], sys.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return usageError{err}
	}
	attacks, err := readAttacks(os.DirFS(o.data))
	if err != nil {
		return err
	}
	b := &bench{options: o.options, sys: sys}
	defer b.close()
	if err := b.openDirectory(ctx); err != nil {
		return err
	}
	rep, err := b.countAll(ctx, attacks)
	if err != nil {
		return err
	}
	if o.json {
		enc := json.NewEncoder(sys.Stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(rep)
	}
	_, err = io.WriteString(sys.Stdout, rep.table())
	return err
}

// countAll sends the calls of every attack in each of its skills, and those of the unchanged skills.
func (b *bench) countAll(ctx context.Context, attacks []attack) (injectReport, error) {
	rep := injectReport{Skillpm: b.tools.skillpm.version}
	known := map[string]bool{}
	for _, a := range attacks {
		b.note("%s %s", a.id, a.Title)
		for _, in := range a.compositions {
			count, err := b.countAttack(ctx, a, in)
			if err != nil {
				return rep, fmt.Errorf("%s in %s: %w", a.id, in.skill.name, err)
			}
			rep.Attacks = append(rep.Attacks, count)
			if known[in.skill.name] {
				continue
			}
			known[in.skill.name] = true
			skill, err := b.countSkill(ctx, in.skill)
			if err != nil {
				return rep, fmt.Errorf("%s: %w", in.skill.name, err)
			}
			rep.Skills = append(rep.Skills, skill)
		}
	}
	return rep, nil
}

func (b *bench) countAttack(ctx context.Context, a attack, in composition) (attackCount, error) {
	harms, err := a.harms(in)
	if err != nil {
		return attackCount{}, err
	}
	count := attackCount{
		Attack: a.id, Title: a.Title, Skill: in.skill.name, Kind: string(a.kind()), Harms: []string{},
		Done: map[string][]string{},
	}
	for _, h := range harms {
		count.Harms = append(count.Harms, h.name)
	}
	for _, s := range settings() {
		done := []string{}
		err := b.play(ctx, s, in.skill, in.files, func(say func(call) (bool, error)) error {
			for _, h := range harms {
				if ok, err := h.happens(say); err != nil {
					return err
				} else if ok {
					done = append(done, h.name)
				}
			}
			return nil
		})
		if err != nil {
			return count, fmt.Errorf("%s: %w", s.name, err)
		}
		count.Done[s.name] = done
	}
	return count, nil
}

func (b *bench) countSkill(ctx context.Context, skill cleanSkill) (skillCount, error) {
	calls := skill.calls()
	count := skillCount{
		Skill: skill.name, Calls: len(calls), Denied: map[string]int{},
		Allowed: skill.declared(false), Scripts: skill.declared(true),
	}
	for _, s := range settings() {
		ran := 0
		err := b.play(ctx, s.reviewed(), skill, nil, func(say func(call) (bool, error)) error {
			for _, c := range calls {
				ok, err := say(c)
				if err != nil {
					return err
				}
				if ok {
					ran++
				}
			}
			return nil
		})
		if err != nil {
			return count, fmt.Errorf("%s: %w", s.name, err)
		}
		count.Denied[s.name] = len(calls) - ran
	}
	return count, nil
}

// table returns the counts as Markdown: harms that happen, by kind of attack.
func (r injectReport) table() string {
	head := []string{"attacks that make the model …", "attacks", "without skillpm"}
	for _, s := range settings() {
		head = append(head, s.name)
	}
	rows := [][]string{head}
	for _, kind := range append(kinds(), "") {
		attacks, harms, done := map[string]bool{}, 0, map[string]int{}
		for _, a := range r.Attacks {
			if kind != "" && a.Kind != string(kind) {
				continue
			}
			attacks[a.Attack] = true
			harms += len(a.Harms)
			for setting, names := range a.Done {
				done[setting] += len(names)
			}
		}
		name := string(kind)
		if kind == "" {
			name = "total"
		}
		row := []string{name, strconv.Itoa(len(attacks)), strconv.Itoa(harms)}
		for _, s := range settings() {
			row = append(row, strconv.Itoa(done[s.name]))
		}
		rows = append(rows, row)
	}
	calls, denied := 0, []string{}
	for _, s := range r.Skills {
		calls += s.Calls
	}
	for _, s := range settings() {
		n := 0
		for _, skill := range r.Skills {
			n += skill.Calls - skill.Denied[s.name]
		}
		denied = append(denied, strconv.Itoa(n))
	}
	rows = append(rows, append([]string{"calls of the unchanged skills", "", strconv.Itoa(calls)}, denied...))
	return render(rows) + fmt.Sprintf("\nHarmful actions that happen, of %d attacks in %d combinations with "+
		"%d skills. skillpm %s.\n", r.attacks(), len(r.Attacks), len(r.Skills), r.Skillpm)
}

func (r injectReport) attacks() int {
	ids := map[string]bool{}
	for _, a := range r.Attacks {
		ids[a.Attack] = true
	}
	return len(ids)
}

// errNoData explains what --data needs.
func errNoData(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--data does not name a copy of skill-inject: %w", err)
	}
	return err
}
