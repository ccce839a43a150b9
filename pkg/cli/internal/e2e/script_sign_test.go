package e2e

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skillpm/skillpm/pkg/sign"
)

// keyPair creates keys: keypair NAME writes NAME.key and NAME.pub, and sets $NAME_SHA256 and $NAME_FINGERPRINT of the
// public key.
func keyPair(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		key, err := sign.Generate(rand.Reader)
		ts.Check(err)
		private, err := key.Encode(nil)
		ts.Check(err)
		public := key.Public().Encode()
		ts.Check(os.WriteFile(ts.MkAbs(name+".key"), private, 0o600))
		ts.Check(os.WriteFile(ts.MkAbs(name+".pub"), public, 0o644))
		ts.Setenv(name+"_SHA256", fmt.Sprintf("%x", sha256.Sum256(public)))
		ts.Setenv(name+"_FINGERPRINT", key.Public().Fingerprint())
	}
}

// expand expands environment variables in a file: expand FROM TO.
func expand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: expand FROM TO")
	}
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[1])), 0o755))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}
