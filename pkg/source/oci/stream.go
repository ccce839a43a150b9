package oci

import (
	"cmp"
	"context"
	"errors"
	"io"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// largestLayer is the size over which no layer is downloaded: even without compression it would exceed the limits.
func (c *Client) largestLayer() int64 {
	const perFile = 4 << 10 // headers and padding
	limits := c.opts.Limits.OrDefault()
	return limits.TotalBytes + int64(limits.Files)*perFile
}

// stream downloads a layer into bundle.Unpack and checks it on the way.
func (c *Client) stream(ctx context.Context, p place, layer ocispec.Descriptor, opts bundle.UnpackOptions, sink bundle.Sink) error {
	body, err := p.blob(ctx, layer)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	v := newVerifier(newMetered(ctx, body, layer.Size), layer, "layer "+string(layer.Digest))
	return explain(ctx, v, bundle.Unpack(v, opts, sink))
}

// explain reads what is left of a layer that was unpacked, or could not be. Bytes that are not those promised explain
// best why they could not be unpacked.
func explain(ctx context.Context, v *verifier, err error) error {
	var mismatch *bundle.MismatchError
	if err == nil {
		return cmp.Or(v.drain(), ctx.Err())
	}
	if ctx.Err() == nil && !errors.As(err, &mismatch) {
		if late := v.drain(); errors.As(late, &mismatch) {
			return late
		}
	}
	return err
}

// renamed gives files to a sink under the skills' names.
type renamed struct {
	sink  bundle.Sink
	names map[string]string
}

func (s renamed) WriteFile(skill, path string, executable bool, size int64, r io.Reader) error {
	return s.sink.WriteFile(s.names[skill], path, executable, size, r)
}

// metered passes bytes on and tells the meter of its context how many they were. It stops reading when the context
// ends, also where the reader below knows no context.
type metered struct {
	ctx         context.Context
	r           io.Reader
	meter       pack.Progress
	done, total int64
}

func newMetered(ctx context.Context, r io.Reader, total int64) *metered {
	return &metered{ctx: ctx, r: r, meter: pack.ProgressFrom(ctx), total: total}
}

func (m *metered) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.Read(p)
	if n > 0 {
		m.done += int64(n)
		m.meter(m.done, m.total)
	}
	return n, err
}
