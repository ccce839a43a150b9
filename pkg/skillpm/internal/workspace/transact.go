package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/txn"
)

// Transact changes a scope in one transaction, which fill stages. It calls check just before the commit. The error is
// [ErrChanged] if manifest or lockfile changed since the workspace was read, or if an interrupted transaction had to be
// finished first.
func (w *Workspace) Transact(ctx context.Context, fill func(*txn.Tx) error, check func() error) (err error) {
	unlock, err := w.machine.lock(ctx, w.Scope.LockFile())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	recovered, err := txn.Recover(w.txnOptions())
	if err != nil {
		return err
	}
	if changed, err := w.changed(); err != nil {
		return err
	} else if changed || recovered {
		return ErrChanged
	}
	tx, err := txn.Begin(w.txnOptions())
	if err != nil {
		return err
	}
	defer tx.Abort()
	if _, err := os.Lstat(w.Scope.Ignore()); w.Scope.Kind == scope.KindProject && errors.Is(err, fs.ErrNotExist) {
		if err := tx.StageFile(w.Rel(w.Scope.Ignore()), []byte(scope.IgnoreText), 0o644); err != nil {
			return err
		}
	}
	if err := fill(tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return tx.CommitIf(check)
}
