package enforce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/policy"
)

// approvals reads all approvals, the machine's first.
func (st snapshot) approvals() (all []Approved, err error) {
	for l, project := range levels(st.o.Projects) {
		if file := st.o.ApprovalFile(l, project); file != "" {
			found, problem := st.o.readApprovals(l, file)
			all, err = append(all, found...), errors.Join(err, problem)
		}
	}
	return all, err
}

// readApprovals reads one file. A file that cannot be read approves nothing.
func (f Files) readApprovals(l policy.Level, file string) ([]Approved, error) {
	damaged := func(err error) error {
		return diag.Errorf(max(diag.CodeOf(err), diag.Invalid), "%w; skillpm ignores the approvals in this file",
			err).WithHint("%s", cmp.Or(diag.HintOf(err), "fix the file "+file+", or approve the skills again"))
	}
	_, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, damaged(err)
	case l == policy.MachineLevel:
		if err := f.CheckAdmin(filepath.Dir(file), file); err != nil {
			return nil, damaged(err)
		}
	}
	data, err := readOptional(file)
	if err != nil || data == nil {
		return nil, err
	}
	list, err := policy.ParseApprovals(file, data)
	if err != nil {
		return nil, damaged(err)
	}
	all := make([]Approved, len(list))
	for i, a := range list {
		all[i] = Approved{Approval: a, File: file, Level: l}
	}
	return all, nil
}

// Approve records approvals of all capabilities of the reviewed skills. It replaces earlier approvals of the same
// files, drops expired ones, and returns the path of the file.
func (g *Evaluator) Approve(
	ctx context.Context, l policy.Level, w Approver, reviews ...Review,
) (file string, err error) {
	if strings.TrimSpace(w.Reason) == "" {
		return "", diag.Errorf(diag.Usage, "an approval requires a reason").WithHint("add --reason TEXT")
	}
	if g.o.Now == nil || w.By == "" {
		return "", diag.Errorf(diag.Internal, "an approval requires a clock and an approver")
	}
	now := g.o.Now().UTC().Truncate(time.Second)
	return g.changeApprovals(ctx, l, func(list []policy.Approval) ([]policy.Approval, error) {
		for _, r := range reviews {
			a := policy.Approval{
				Skill: r.Skill.Exact(), Digest: r.Digest, Capabilities: r.Capabilities.List(), By: w.By, At: now,
				Reason: w.Reason, Expires: w.Expires,
			}
			list = slices.DeleteFunc(list, func(old policy.Approval) bool {
				return old.Skill == a.Skill && (old.Digest == a.Digest || old.Expired(now))
			})
			list = append(list, a)
		}
		slices.SortStableFunc(list,
			func(a, b policy.Approval) int { return cmp.Or(cmp.Compare(a.Skill, b.Skill), a.At.Compare(b.At)) })
		return list, nil
	})
}

// Revoke deletes the approvals of a skill (name@owner/name), or of all skills of a pack (owner/name), and returns them.
// The error has code NotFound if there are none.
func (g *Evaluator) Revoke(ctx context.Context, l policy.Level, name string) ([]Approved, error) {
	var revoked []Approved
	matches := func(a policy.Approval) bool {
		_, pack, _ := strings.Cut(a.Skill, "@")
		return a.Skill == name || pack != "" && pack == name
	}
	file, err := g.changeApprovals(ctx, l, func(list []policy.Approval) ([]policy.Approval, error) {
		for _, a := range list {
			if matches(a) {
				revoked = append(revoked, Approved{Approval: a, Level: l})
			}
		}
		if len(revoked) == 0 {
			return nil, diag.Errorf(diag.NotFound, "no approval of %s found in the scope %s", name, l).
				WithHint("list approvals with: skillpm approve --list")
		}
		return slices.DeleteFunc(list, matches), nil
	})
	for i := range revoked {
		revoked[i].File = file
	}
	return revoked, err
}

// targetFile returns the path of a level's file that is to be written.
func (g *Evaluator) targetFile(l policy.Level, path func(policy.Level, string) string, what string) (string, error) {
	project := ""
	if len(g.o.Projects) > 0 {
		project = g.o.Projects[0]
	}
	file := path(l, project)
	if file == "" {
		return "", diag.Errorf(diag.NotFound,
			"cannot find the project's %s: the current directory is not in a project", what).
			WithHint("omit --scope project, or change to the project's directory")
	}
	return file, nil
}

// changeApprovals changes the approvals of a level under a lock. It does not overwrite a damaged file.
func (g *Evaluator) changeApprovals(
	ctx context.Context, l policy.Level, change func([]policy.Approval) ([]policy.Approval, error),
) (string, error) {
	file, err := g.targetFile(l, g.o.ApprovalFile, "approvals")
	if err != nil {
		return "", err
	}
	err = changeFile(ctx, file, l, func() error {
		old, err := g.o.readApprovals(l, file)
		if err != nil {
			return err
		}
		list := make([]policy.Approval, len(old))
		for i, a := range old {
			list[i] = a.Approval
		}
		if list, err = change(list); err != nil {
			return err
		}
		data := policy.EncodeApprovals(list)
		if _, err := policy.ParseApprovals(file, data); err != nil { // it would approve nothing
			return diag.Errorf(diag.Invalid, "cannot record the approval, because skillpm could not read it again: %w",
				err)
		}
		return atomicfile.Write(file, data, atomicfile.Options{Mode: mode(l), Sync: true})
	})
	return file, err
}

// mode returns the permissions of a level's files. Everybody may read those of the machine and of a project.
func mode(l policy.Level) fs.FileMode {
	if l == policy.UserLevel {
		return 0o600
	}
	return 0o644
}

// changeFile runs a change of a level's file under a lock. A permission error explains who may write the file.
func changeFile(ctx context.Context, file string, l policy.Level, change func() error) error {
	dir := filepath.Dir(file)
	perm := fs.FileMode(0o755)
	if l == policy.UserLevel {
		perm = 0o700
	}
	if err := atomicfile.MkdirAll(dir, perm, true); err != nil {
		return explainPermission(file, l, err)
	}
	lock := filepath.Join(dir, "."+strings.TrimPrefix(filepath.Base(file), ".")+".lock")
	if l == policy.ProjectLevel {
		lock = filepath.Join(dir, ".skillpm", "approvals.lock")
		if err := os.MkdirAll(filepath.Dir(lock), 0o755); err != nil {
			return explainPermission(file, l, err)
		}
	}
	unlock, err := txn.Lock(ctx, lock)
	if err != nil {
		return explainPermission(file, l, err)
	}
	defer func() { _ = unlock() }() // the kernel releases it when the process ends
	return explainPermission(file, l, change())
}

// explainPermission replaces a permission error by one that explains who may write the file.
func explainPermission(file string, l policy.Level, err error) error {
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if l == policy.MachineLevel {
		return diag.Errorf(diag.Denied, "cannot write %s: only the machine's administrator may write this file", file).
			WithHint("run the command with sudo, or omit --scope machine to approve for yourself")
	}
	return diag.Errorf(diag.Denied, "cannot write %s: %w", file, err).
		WithHint("%s", fmt.Sprintf("grant yourself write access to %s", filepath.Dir(file)))
}
