package txn_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/internal/txn"
)

func Example() {
	root, err := os.MkdirTemp("", "scope")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	o := txn.Options{Root: root, Dir: filepath.Join(root, ".skillpm", "journal")}

	if _, err := txn.Recover(o); err != nil { // completes an interrupted transaction
		fmt.Println(err)
		return
	}
	tx, err := txn.Begin(o)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tx.Abort() // does nothing after Commit
	pack, err := tx.StageDir(".skillpm/plugins/acme/deploy")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := os.Mkdir(pack, 0o755); err != nil { // and write files into it
		fmt.Println(err)
		return
	}
	if err := tx.StageFile("skillpm.lock", []byte("version: 1\n"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tx.Commit())
	// Output: <nil>
}
