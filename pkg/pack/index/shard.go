package index

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/bits"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// An index as an OCI artifact has its config.json, its catalog, and the files of its packs in shards: the shard with
// the prefix 0110 has the packs the SHA-256 of whose name begins with these bits. So a client reads the manifest and
// one shard for a pack, and both grow only with the square root of the number of packs.
const (
	ArtifactType     = "application/vnd.skillpm.index.v1"
	MediaTypeConfig  = "application/vnd.skillpm.index.config.v1+json"
	MediaTypeCatalog = "application/vnd.skillpm.index.catalog.v1.ndjson+gzip"
	MediaTypeShard   = "application/vnd.skillpm.index.shard.v1.tar+gzip"
	// MediaTypeAdvisories are the files of a feed of advisories; their titles are the paths in the index.
	MediaTypeAdvisories = "application/vnd.skillpm.index.advisories.v1"

	AnnotationPrefix = "io.skillpm.index.prefix.v1" // of a shard, in binary digits
)

// The limits of such an artifact.
const (
	maxShardBits  = 12
	MaxBlobs      = 1<<maxShardBits + 2 // shards, configuration and catalog
	MaxShardBytes = 64 << 20            // of a shard, compressed
	maxShardText  = 256 << 20           // of a shard, uncompressed
)

// ShardBits returns the length of the prefixes of shards for a number of packs.
func ShardBits(packs int) int {
	if packs < 2 {
		return 0
	}
	return min((bits.Len(uint(packs))+1)/2, maxShardBits)
}

// Prefix returns the first bits of a pack's hash, as binary digits.
func Prefix(id pack.ID, length int) string {
	sum := sha256.Sum256([]byte(id.String()))
	var b strings.Builder
	for i := range length {
		b.WriteByte('0' + sum[i/8]>>(7-i%8)&1)
	}
	return b.String()
}

// CheckPrefix returns an error unless prefix is legal for a shard.
func CheckPrefix(prefix string) error {
	if len(prefix) > maxShardBits || strings.Trim(prefix, "01") != "" {
		return diag.Errorf(diag.Invalid, "invalid shard prefix %q: use at most %d binary digits", prefix,
			maxShardBits)
	}
	return nil
}

// WriteShard writes a shard, an archive of packs' files, which must be in order of paths. The same files give the same
// bytes on every machine.
func WriteShard(w io.Writer, files iter.Seq2[string, []byte]) error {
	zw, err := gzip.NewWriterLevel(w, 6)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(zw)
	for name, data := range files {
		h := &tar.Header{
			Name: name, Size: int64(len(data)), Mode: 0o644, Typeflag: tar.TypeReg,
			Format: tar.FormatUSTAR,
		}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		if _, err := tw.Write(data); err != nil {
			return err
		}
	}
	if err := tw.Close(); err != nil {
		return err
	}
	return zw.Close()
}

// ReadShard returns one file of a shard, or [fs.ErrNotExist].
func ReadShard(r io.Reader, name string) ([]byte, error) {
	zr, err := gzip.NewReader(r)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "the shard is not compressed: %w", err)
	}
	zr.Multistream(false)
	limited := &io.LimitedReader{R: zr, N: maxShardText}
	tr := tar.NewReader(limited)
	for {
		h, err := tr.Next()
		switch {
		case errors.Is(err, io.EOF) && limited.N > 0:
			return nil, fs.ErrNotExist
		case limited.N <= 0:
			return nil, diag.Errorf(diag.Invalid, "the unpacked shard is larger than %d bytes", maxShardText)
		case err != nil:
			return nil, diag.Errorf(diag.Invalid, "cannot read the shard: %w", err)
		case h.Name != name:
			continue
		case h.Typeflag != tar.TypeReg:
			return nil, diag.Errorf(diag.Invalid, "entry %s in the shard is not a regular file", name)
		case h.Size > MaxBytes:
			return nil, diag.Errorf(diag.Invalid, "entry %s in the shard has %d bytes; the limit is %d", name, h.Size,
				MaxBytes)
		}
		data, err := io.ReadAll(tr)
		if err != nil {
			return nil, diag.Errorf(diag.Invalid, "invalid entry %s in the shard: %w", name, err)
		}
		return data, nil
	}
}

// IDAt returns the pack whose file has a path.
func IDAt(path string) (pack.ID, error) {
	parts := strings.Split(path, "/")
	if len(parts) == 5 {
		id, err := pack.ParseID(parts[3] + "/" + strings.TrimSuffix(parts[4], ".ndjson"))
		if err == nil && Path(id) == path {
			return id, nil
		}
	}
	return pack.ID{}, fmt.Errorf("invalid path %s for the file of a pack", path)
}
