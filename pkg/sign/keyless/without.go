//go:build !keyless

package keyless

import "github.com/skillpm/skillpm/pkg/diag"

// Built says whether this program can check such signatures.
const Built = false

// Verifier checks signatures of identities.
type Verifier struct{}

// New returns an error with the code [diag.Denied]: this program can't tell a good signature from a bad one.
func New([]byte) (*Verifier, error) {
	return nil, diag.Errorf(diag.Denied, "a signature was made with a certificate, and this build of skillpm cannot check it").
		WithHint("use the program skillpm-keyless of the same release (go build -tags keyless), or trust a key")
}

// Verify returns the same error as [New].
func (*Verifier) Verify([]byte, string, []Identity) (Identity, error) {
	_, err := New(nil)
	return Identity{}, err
}
