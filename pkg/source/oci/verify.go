package oci

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"strconv"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// verifier passes bytes on and checks, as they pass, that they are those of a descriptor.
type verifier struct {
	r    io.Reader
	want ocispec.Descriptor
	what string
	sum  hash.Hash
	n    int64
	err  error // sticky
}

func newVerifier(r io.Reader, want ocispec.Descriptor, what string) *verifier {
	return &verifier{r: r, want: want, what: what, sum: sha256.New()}
}

// Read reads on; the end of the content is an error unless size and digest are right.
func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.r.Read(p)
	v.sum.Write(p[:n])
	v.n += int64(n)
	switch {
	case v.n > v.want.Size:
		v.err = v.mismatch(strconv.FormatInt(v.want.Size, 10)+" bytes", "more")
		return 0, v.err
	case err == io.EOF:
		v.err = v.end()
	case err != nil:
		v.err = err
	}
	return n, v.err
}

func (v *verifier) end() error {
	if v.n != v.want.Size {
		return v.mismatch(strconv.FormatInt(v.want.Size, 10)+" bytes", strconv.FormatInt(v.n, 10))
	}
	if got := "sha256:" + hex.EncodeToString(v.sum.Sum(nil)); got != string(v.want.Digest) {
		return v.mismatch(string(v.want.Digest), got)
	}
	return io.EOF
}

func (v *verifier) mismatch(want, got string) error {
	return &bundle.MismatchError{What: v.what, Want: want, Got: got}
}

// drain reads what is left and reports whether all of it was right.
func (v *verifier) drain() error {
	_, err := io.Copy(io.Discard, v)
	return err
}
