package author

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/sign"
)

func newKeygen(a *app) *cobra.Command {
	var out string
	var open bool
	cmd := &cobra.Command{
		Use:     "keygen",
		Short:   "Make a pair of keys to sign packs with",
		GroupID: "author",
		Long: `Make a key that signs packs (ECDSA P-256): NAME.key is private and stays with
you, NAME.pub is public and goes to those who install your packs. Neither file
may exist yet.

The private key is encrypted with a password, which is asked for on a terminal,
or is in SKILLPM_SIGNING_PASSWORD. It has the form of cosign's keys, so that
cosign signs with it, too. With --no-password it is not encrypted (PKCS #8): for
a CI system that keeps it as a secret itself.`,
		Example: `  skillpm keygen --out acme
  skillpm keygen --out ci --no-password
  skillpm publish --sign --key acme.key`,
		Args: console.Need(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return a.keygen(out, open) },
	}
	cmd.Flags().StringVar(&out, "out", "skillpm", "write `NAME`.key and NAME.pub")
	cmd.Flags().BoolVar(&open, "no-password", false, "do not encrypt the private key")
	return cmd
}

func (a *app) keygen(out string, open bool) error {
	dir, err := a.WorkDir()
	if err != nil {
		return err
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(dir, out)
	}
	private, public := out+".key", out+".pub"
	for _, file := range []string{private, public} {
		if _, err := os.Lstat(file); err == nil {
			return diag.Errorf(diag.Conflict, "%s exists, and keys are never replaced", file).
				WithHint("choose another name: --out NAME")
		}
	}
	var password []byte
	if !open {
		if password, err = a.newPassword(); err != nil {
			return err
		}
	}
	key, err := sign.Generate(rand.Reader)
	if err != nil {
		return err
	}
	text, err := key.Encode(password)
	if err != nil {
		return err
	}
	if err := writeNew(private, text, 0o600); err != nil {
		return err
	}
	if err := writeNew(public, key.Public().Encode(), 0o644); err != nil {
		_ = os.Remove(private) // half of a key pair is useless
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{
			"privateKey": private, "publicKey": public, "fingerprint": key.Public().Fingerprint(), "id": key.Public().
					ID(), "encrypted": !open,
		})
	}
	a.Note("wrote %s, which stays with you, and %s for everybody else", private, public)
	return console.Table(a.Stdout, [][]string{{key.Public().Fingerprint()}})
}

// newPassword returns a password for a new key: from the environment, or typed twice.
func (a *app) newPassword() ([]byte, error) {
	if p := a.Getenv(console.PasswordVariable); p != "" {
		return []byte(p), nil
	}
	first, err := a.AskSecret("Password for the new key: ")
	if err == nil && len(first) == 0 {
		err = diag.Errorf(diag.Usage, "a password is needed to encrypt the private key").
			WithHint("set %s, or write --no-password to keep the key unencrypted", console.PasswordVariable)
	}
	if err != nil {
		return nil, err
	}
	second, err := a.AskSecret("The same again: ")
	if err == nil && !bytes.Equal(first, second) {
		err = diag.Errorf(diag.Usage, "the passwords differ: no key was made")
	}
	return first, err
}

// writeNew creates a file and fails if it exists.
func writeNew(file string, data []byte, mode os.FileMode) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	switch {
	case errors.Is(err, fs.ErrExist):
		return diag.Errorf(diag.Conflict, "%s exists, and keys are never replaced", file).
			WithHint("choose another name: --out NAME")
	case errors.Is(err, fs.ErrNotExist):
		return diag.Errorf(diag.NotFound, "the directory of %s does not exist", file)
	case err != nil:
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(file) // the first error matters
	}
	return err
}
