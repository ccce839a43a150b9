package enforce

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy"
)

// Deny adds a pattern to the denied skills in the policy of a level, and creates the policy if necessary. All other
// bytes of the file stay the same. It returns the path of the file, and whether it changed.
func (g *Evaluator) Deny(
	ctx context.Context, l policy.Level, pattern policy.SkillPattern,
) (file string, changed bool, err error) {
	return g.edit(ctx, l, func(file string, data []byte) ([]byte, bool, error) {
		return policy.Deny(file, data, pattern)
	})
}

// Undeny removes a pattern of denied skills. The error has code NotFound if the policy does not have it.
func (g *Evaluator) Undeny(ctx context.Context, l policy.Level, pattern policy.SkillPattern) (file string, err error) {
	file, _, err = g.edit(ctx, l, func(file string, data []byte) ([]byte, bool, error) {
		if data == nil {
			data = []byte("version: 1\n")
		}
		out, removed, err := policy.Undeny(file, data, pattern)
		if err == nil && !removed {
			err = g.undeniedError(file, data, pattern)
		}
		return out, removed, err
	})
	return file, err
}

// undeniedError reports that a policy does not deny a pattern. Its hint names a policy that does, or the patterns that
// this policy denies.
func (g *Evaluator) undeniedError(file string, data []byte, pattern policy.SkillPattern) error {
	err := diag.Errorf(diag.NotFound, "%s does not deny %q", file, pattern)
	for _, p := range g.Policies() {
		if slices.Contains(p.Skills.Deny, pattern) {
			undo := cmp.Or(p.UndoHint(pattern), "ask its owner to change the policy")
			return err.WithHint("%s denies the skill; %s", p.Path, undo)
		}
	}
	p, parseErr := policy.Parse(file, data)
	if parseErr != nil || len(p.Skills.Deny) == 0 {
		return err.WithHint("the policy does not deny skills by name; use --scope for the policy of another scope")
	}
	names := make([]string, len(p.Skills.Deny))
	for i, denied := range p.Skills.Deny {
		names[i] = string(denied)
	}
	return err.WithHint("the policy denies %s; use --scope for the policy of another scope",
		textx.FirstAndMore(names, 5))
}

// Init writes a new policy for a level. The error has code Conflict if there is one that restricts something.
func (g *Evaluator) Init(ctx context.Context, l policy.Level, text string) (file string, err error) {
	file, _, err = g.edit(ctx, l, func(file string, data []byte) ([]byte, bool, error) {
		if data != nil && !policy.IsUnrestricted(data) {
			return nil, false, diag.Errorf(diag.Conflict, "%s already exists", file).
				WithHint("edit the file, and check it with: skillpm policy check")
		}
		_, err := policy.Parse(file, []byte(text))
		return []byte(text), true, err
	})
	return file, err
}

// edit changes the policy of a level under a lock.
func (g *Evaluator) edit(
	ctx context.Context, l policy.Level, change func(file string, data []byte) ([]byte, bool, error),
) (file string, changed bool, err error) {
	if file, err = g.targetFile(l, g.o.PolicyFile, "policy"); err != nil {
		return "", false, err
	}
	err = changeFile(ctx, file, l, func() error {
		perm := mode(l)
		info, err := os.Lstat(file)
		switch {
		case err == nil && info.Mode().IsRegular():
			perm = info.Mode().Perm()
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		data, err := readOptional(file)
		if err != nil {
			return err
		}
		out, did, err := change(file, data)
		if changed = did; err != nil || !did {
			return err
		}
		return atomicfile.Write(file, out, atomicfile.Options{Mode: perm, Sync: true})
	})
	if err == nil {
		g.Reload()
	}
	return file, changed, err
}
