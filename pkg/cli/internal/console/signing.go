package console

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/skillpm"
)

// SigningFlags adds the flags for required signatures.
func (a *App) SigningFlags(cmd *cobra.Command, s *skillpm.Signing) {
	f := cmd.Flags()
	f.BoolVar(&s.Require, "require-signature", false, "require a trusted signature")
	f.StringSliceVar(&s.Keys, "key", nil,
		"trust the public key or the git allowed signers in `FILE` (repeatable)")
	if cmd.Name() != "try" {
		f.StringSliceVar(&s.Accept, "accept-signer", nil,
			"accept a changed or missing signer for `PACK` (repeatable)")
		a.CompleteFlag(cmd, "accept-signer", a.CompleteLocked)
	}
}
