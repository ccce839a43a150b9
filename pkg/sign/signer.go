package sign

import "context"

// Signer signs statements: a [PrivateKey], or an identity that a certificate is issued to.
type Signer interface {
	// ID returns the signer as lockfiles record it. The signer of an identity requests its certificate for that, so the
	// error can be one of the network.
	ID(ctx context.Context) (string, error)
	// Bundle signs an in-toto statement and returns a Sigstore bundle (version 0.3) with a DSSE envelope.
	Bundle(ctx context.Context, statement []byte) ([]byte, error)
}

var _ Signer = (*PrivateKey)(nil)

// ID implements [Signer].
func (k *PrivateKey) ID(context.Context) (string, error) { return k.public.ID(), nil }

// Bundle implements [Signer]; see [Bundle].
func (k *PrivateKey) Bundle(_ context.Context, statement []byte) ([]byte, error) {
	return Bundle(k, statement)
}
