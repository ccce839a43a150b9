package txn_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/internal/txn"
)

// TestLockExchanged checks that a lock is never created through a link, even if another process exchanges skillpm's
// directory and a link all the time: neither through a link to a directory elsewhere, nor through one in the project.
func TestLockExchanged(t *testing.T) {
	root := t.TempDir()
	project := filepath.Join(root, "project")
	for _, elsewhere := range []string{filepath.Join(root, "elsewhere"), filepath.Join(project, "src")} {
		own, link := filepath.Join(project, ".skillpm"), filepath.Join(project, "link")
		for _, dir := range []string{elsewhere, own} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(elsewhere, link); err != nil {
			t.Fatal(err)
		}
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
					_ = unix.Renameat2(unix.AT_FDCWD, own, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
				}
			}
		}()
		locked, refused := 0, 0
		for end := time.Now().Add(time.Second); time.Now().Before(end); {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if unlock, err := txn.Lock(ctx, filepath.Join(own, "lock")); err == nil {
				locked++
				if err := unlock(); err != nil {
					t.Error(err)
				}
			} else {
				refused++
			}
			cancel()
		}
		close(stop)
		<-stopped
		if _, err := os.Lstat(filepath.Join(elsewhere, "lock")); err == nil {
			t.Errorf("there is a lock in %s", elsewhere)
		}
		if locked == 0 || refused == 0 {
			t.Errorf("locked %d times, refused %d times", locked, refused)
		}
		if info, err := os.Lstat(own); err == nil && info.Mode().Type() == os.ModeSymlink {
			own, link = link, own
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(own); err != nil {
			t.Fatal(err)
		}
	}
}
