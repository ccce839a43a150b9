package console

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/skillpm"
)

// SigningFlags adds the flags for required signatures.
func (a *App) SigningFlags(cmd *cobra.Command, s *skillpm.Signing) {
	f := cmd.Flags()
	f.BoolVar(&s.Require, "require-signature", false, "refuse packs that nobody who is trusted has signed")
	f.StringSliceVar(&s.Keys, "key", nil,
		"trust the public key in `FILE`, or for git the allowed signers there (may be repeated)")
	if cmd.Name() != "try" {
		f.StringSliceVar(&s.Accept, "accept-signer", nil,
			"let `PACK` be signed by somebody else than before, or by nobody (may be repeated)")
		a.CompleteFlag(cmd, "accept-signer", a.CompleteLocked)
	}
}
