package catalog

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// magic starts every index file; the number is the version of the format. After it come the CRC-32C of the rest, the
// rest's length, and a tree as [codec] encodes it.
const magic = "skillpm catalog 9\n"

const (
	headerSize = len(magic) + 4 + 8
	maxIndex   = 64 << 20 // maximum bytes of a file
)

// castagnoli returns the CRC table that processors have instructions for.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// indexPath returns the path of a root's index file.
func indexPath(cache, key string) string {
	return filepath.Join(cache, textx.SHA256(key)[:24]+indexSuffix)
}

// readIndex returns the tree that the index has for a root, nil if there is no valid one.
func readIndex(cache string, root *root) *tree {
	f, err := safefile.Open(indexPath(cache, root.indexKey()), maxIndex)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !safefile.Mine(info) || info.Size() > maxIndex {
		return nil
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil
	}
	t := decode(data)
	if t == nil || t.real != root.real {
		return nil
	}
	return t
}

// writeIndex stores a tree. A failure is not an error: the next process reads more files.
func writeIndex(cache string, root *root, t *tree) {
	path := indexPath(cache, root.indexKey())
	if err := atomicfile.Write(path, encode(t), atomicfile.Options{Mode: 0o600, MkdirMode: 0o700}); err == nil {
		pruneCache(cache, indexSuffix, maxIndexes)
	}
}

const indexSuffix = ".idx"

// maxIndexes is the maximum number of index files. The oldest are removed first: most belong to deleted projects.
const maxIndexes = 512

// encode returns the index file of a tree.
func encode(t *tree) []byte {
	c := &codec{data: make([]byte, headerSize, 4096)}
	c.tree(t)
	copy(c.data, magic)
	binary.LittleEndian.PutUint32(c.data[len(magic):], crc32.Checksum(c.data[headerSize:], castagnoli()))
	binary.LittleEndian.PutUint64(c.data[len(magic)+4:], uint64(len(c.data)-headerSize))
	return c.data
}

// decode returns the tree in an index file, nil if the file is damaged or of another version.
func decode(data []byte) *tree {
	if len(data) < headerSize || string(data[:len(magic)]) != magic ||
		binary.LittleEndian.Uint64(data[len(magic)+4:]) != uint64(len(data)-headerSize) ||
		binary.LittleEndian.Uint32(data[len(magic):]) != crc32.Checksum(data[headerSize:], castagnoli()) {
		return nil
	}
	c := &codec{data: data[headerSize:], reading: true}
	t := &tree{}
	if c.tree(t); c.bad || len(c.data) > 0 {
		return nil
	}
	return t
}

func (c *codec) tree(t *tree) {
	c.text(&t.real)
	c.lock(&t.lock)
	list(c, &t.dirs, c.branch)
}

func (c *codec) stamp(s *stamp) {
	number(c, &s.size)
	number(c, &s.modified)
	number(c, &s.changed)
	number(c, &s.inode)
	number(c, &s.device)
}

func (c *codec) lock(l *lockFacts) {
	c.flag(&l.exists)
	c.flag(&l.stable)
	c.stamp(&l.stat)
	c.text(&l.problem)
	list(c, &l.packs, func(p *lockedPack) {
		for _, s := range []*string{&p.id, &p.version, &p.source, &p.skills, &p.claim, &p.trees} {
			c.text(s)
		}
		optional(c, &p.requires, c.requirements)
	})
	list(c, &l.names, func(n *lockedName) {
		c.text(&n.name)
		c.text(&n.winner)
		list(c, &n.shadowed, func(s *lockedAlias) {
			c.text(&s.pack)
			c.text(&s.alias)
		})
	})
}

func (c *codec) branch(b *branch) {
	c.text(&b.path)
	if b.path != "" && !staysInside(b.path) {
		c.fail()
	}
	c.stamp(&b.stat)
	c.flag(&b.stable)
	c.text(&b.problem)
	list(c, &b.nodes, c.node)
}

func (c *codec) node(n *node) {
	c.text(&n.name)
	if c.reading && (strings.Contains(n.name, "/") || !staysInside(n.name)) {
		c.fail()
	}
	c.flag(&n.link)
	c.text(&n.target)
	c.stamp(&n.stat)
	c.flag(&n.stable)
	optional(c, &n.record, c.record)
	optional(c, &n.copy, func(f *copyFacts) {
		c.text(&f.installed)
		c.stamp(&f.file)
		c.stamp(&f.dir)
		c.text(&f.files)
	})
}

// staysInside reports whether a relative path stays inside its root.
func staysInside(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part[0] == '.' || strings.ContainsRune(part, filepath.Separator) {
			return false
		}
	}
	return true
}

func (c *codec) requirements(r *skill.Requirements) {
	for _, l := range []*[]string{&r.Bins, &r.AnyBins, &r.Env, &r.OS} {
		list(c, l, c.text)
	}
}

func (c *codec) record(r *record) {
	for _, s := range []*string{&r.name, &r.description, &r.paragraph, &r.when, &r.hint, &r.agent, &r.model, &r.fatal} {
		c.text(s)
	}
	for _, l := range []*[]string{&r.tags, &r.agents, &r.tenants, &r.environments, &r.tools, &r.toolsets} {
		list(c, l, c.text)
	}
	optional(c, &r.requires, c.requirements)
	c.float(&r.priority)
	number(c, &r.flags)
	number(c, &r.line)
	list(c, &r.problems, func(p *problem) {
		for _, s := range []*string{&p.rule, &p.message, &p.fix} {
			c.text(s)
		}
		number(c, &p.severity)
		number(c, &p.line)
	})
}
