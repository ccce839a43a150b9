package catalog

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// A file of the index is a header and what a tree holds, one value after the other: numbers as varints, times and
// stamps in eight bytes, texts with their length before them. The header is magic, the CRC-32C of the rest, and the
// rest's length.

// magic starts every file; the number is the version of the format.
const magic = "skillpm catalog 4\n"

const (
	headerSize = len(magic) + 4 + 8
	maxIndex   = 64 << 20 // bytes that are read
)

// castagnoli returns the table of the checksum, which the processor computes.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// indexPath returns where the index of a root is kept.
func indexPath(cache, key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(cache, hex.EncodeToString(sum[:12])+".idx")
}

// readIndex returns what the index says of a root, nil where it says nothing that can be relied on.
func readIndex(cache string, root *root) *tree {
	f, err := safefile.Open(indexPath(cache, root.key()), maxIndex)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
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

// writeIndex keeps a tree. That it cannot is no error: the next process reads more.
func writeIndex(cache string, root *root, t *tree) {
	path := indexPath(cache, root.key())
	if err := atomicfile.Write(path, encode(t), atomicfile.Options{Mode: 0o600, MkdirMode: 0o700}); err == nil {
		thin(cache)
	}
}

// maxIndexes is how many files the index may have. The oldest go first: most of them are of projects that are gone.
const maxIndexes = 512

// thin removes the oldest files of the index where there are too many.
func thin(cache string) {
	f, err := os.Open(cache)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	names, _ := f.Readdirnames(8 * maxIndexes)
	if len(names) <= maxIndexes {
		return
	}
	oldest, when := "", int64(math.MaxInt64)
	for _, name := range names {
		l, err := lookAt(filepath.Join(cache, name))
		if err == nil && l.mode == 0 && l.modified < when && (strings.HasSuffix(name, ".idx") || strings.HasPrefix(name, ".tmp-")) {
			oldest, when = name, l.modified
		}
	}
	if oldest != "" {
		_ = os.Remove(filepath.Join(cache, oldest)) // another process may have
	}
}

// encode returns a tree as a file.
func encode(t *tree) []byte {
	w := writer{b: make([]byte, headerSize, headerSize+4096+len(t.dirs)*64+t.count()*512)}
	w.text(t.real)
	w.lock(&t.lock)
	w.number(len(t.dirs))
	w.number(t.count())
	w.number(t.records())
	for i := range t.dirs {
		w.branch(&t.dirs[i])
	}
	copy(w.b, magic)
	binary.LittleEndian.PutUint32(w.b[len(magic):], crc32.Checksum(w.b[headerSize:], castagnoli()))
	binary.LittleEndian.PutUint64(w.b[len(magic)+4:], uint64(len(w.b)-headerSize))
	return w.b
}

// count returns how many nodes a tree has.
func (t *tree) count() (n int) {
	for i := range t.dirs {
		n += len(t.dirs[i].nodes)
	}
	return n
}

// records returns how many nodes have a record.
func (t *tree) records() (n int) {
	for i := range t.dirs {
		n += t.dirs[i].records()
	}
	return n
}

// writer appends values.
type writer struct{ b []byte }

func (w *writer) number(n int) { w.b = binary.AppendUvarint(w.b, uint64(n)) }

func (w *writer) fixed(n uint64) { w.b = binary.LittleEndian.AppendUint64(w.b, n) }

func (w *writer) text(s string) {
	w.number(len(s))
	w.b = append(w.b, s...)
}

func (w *writer) list(items []string) {
	w.number(len(items))
	for _, item := range items {
		w.text(item)
	}
}

func (w *writer) bits(bits ...bool) {
	var b byte
	for i, on := range bits {
		if on {
			b |= 1 << i
		}
	}
	w.b = append(w.b, b)
}

func (w *writer) stamp(s stamp) {
	w.number(int(max(s.size, 0)))
	w.fixed(uint64(s.modified))
	w.fixed(uint64(s.changed))
	w.b = binary.AppendUvarint(w.b, s.inode)
	w.b = binary.AppendUvarint(w.b, s.device)
}

func (w *writer) lock(l *lockFacts) {
	w.bits(l.there, l.settled)
	if !l.there {
		return
	}
	w.stamp(l.look)
	w.text(l.problem)
	w.number(len(l.packs))
	for _, p := range l.packs {
		w.text(p.id)
		w.text(p.version)
		w.text(p.source)
		w.text(p.skills)
	}
	w.number(len(l.names))
	for _, n := range l.names {
		w.text(n.name)
		w.text(n.winner)
		w.number(len(n.shadowed))
		for _, s := range n.shadowed {
			w.text(s.pack)
			w.text(s.alias)
		}
	}
}

func (w *writer) branch(b *branch) {
	w.text(b.path)
	w.stamp(b.look)
	w.bits(b.settled)
	w.text(b.problem)
	w.number(len(b.nodes))
	for i := range b.nodes {
		n := &b.nodes[i]
		w.text(n.name)
		w.bits(n.link, n.settled, n.record != nil, n.copy != nil)
		if n.link {
			w.text(n.target)
		}
		if n.record != nil {
			w.stamp(n.look)
			w.record(n.record)
		}
		if n.copy != nil {
			w.copied(n.copy)
		}
	}
}

func (w *writer) copied(c *copyFacts) {
	w.text(c.of)
	w.stamp(c.file)
	w.stamp(c.dir)
	w.number(len(c.seen))
	for _, e := range c.seen {
		w.text(e.path)
		w.stamp(e.look)
	}
}

func (w *writer) record(r *record) {
	lists := len(r.tags)+len(r.agents)+len(r.tenants)+len(r.environments) > 0
	rare := r.when != "" || r.hint != "" || r.agent != "" || r.paragraph != "" || r.priority != 0
	bad := r.fatal != "" || len(r.problems) > 0
	w.bits(lists, rare, bad, r.flags&modelOff != 0, r.flags&userOff != 0, r.flags&forks != 0, r.flags&bare != 0)
	w.text(r.name)
	w.text(r.description)
	if lists {
		w.list(r.tags)
		w.list(r.agents)
		w.list(r.tenants)
		w.list(r.environments)
	}
	if rare {
		w.text(r.when)
		w.text(r.hint)
		w.text(r.agent)
		w.text(r.paragraph)
		w.fixed(math.Float64bits(r.priority))
	}
	if !bad {
		return
	}
	w.text(r.fatal)
	w.number(r.line)
	w.number(len(r.problems))
	for _, p := range r.problems {
		w.text(p.rule)
		w.number(int(p.severity))
		w.number(p.line)
		w.text(p.message)
		w.text(p.fix)
	}
}

// decode returns the tree that a file holds, nil where the file is damaged or of another version. Texts are parts of
// data, which must not be changed afterwards.
func decode(data []byte) *tree {
	if len(data) < headerSize || string(data[:len(magic)]) != magic ||
		binary.LittleEndian.Uint64(data[len(magic)+4:]) != uint64(len(data)-headerSize) ||
		binary.LittleEndian.Uint32(data[len(magic):]) != crc32.Checksum(data[headerSize:], castagnoli()) {
		return nil
	}
	r := reader{left: unsafe.String(unsafe.SliceData(data), len(data))[headerSize:]} // nobody else has data
	t := &tree{real: r.text()}
	r.lock(&t.lock)
	t.dirs = make([]branch, r.count(4))
	r.nodes = make([]node, r.count(2))
	r.records = make([]record, r.count(3))
	for i := range t.dirs {
		r.branch(&t.dirs[i])
	}
	if r.bad || r.left != "" {
		return nil
	}
	return t
}

// reader takes values off a text. Once one is not there it is bad, and all that follow are empty.
type reader struct {
	left    string
	bad     bool
	nodes   []node   // room for those that are to come
	records []record // likewise
}

func (r *reader) fail() {
	r.bad, r.left = true, ""
}

func (r *reader) uvarint() uint64 {
	var n uint64
	for i := 0; i < len(r.left) && i < binary.MaxVarintLen64; i++ {
		c := r.left[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.left = r.left[i+1:]
			return n
		}
	}
	r.fail()
	return 0
}

// count returns a number of things of which each takes at least so many bytes.
func (r *reader) count(least int) int {
	n := r.uvarint()
	if n > uint64(len(r.left)/least) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) number() int {
	n := r.uvarint()
	if n > math.MaxInt32 {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) fixed() uint64 {
	if len(r.left) < 8 {
		r.fail()
		return 0
	}
	s := r.left
	r.left = s[8:]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func (r *reader) text() string {
	n := r.count(1)
	s := r.left[:n]
	r.left = r.left[n:]
	return s
}

func (r *reader) list() []string {
	n := r.count(1)
	if n == 0 {
		return nil
	}
	items := make([]string, n)
	for i := range items {
		items[i] = r.text()
	}
	return items
}

func (r *reader) bits() byte {
	if r.left == "" {
		r.fail()
		return 0
	}
	b := r.left[0]
	r.left = r.left[1:]
	return b
}

func (r *reader) stamp() stamp {
	return stamp{
		size: int64(r.uvarint() & math.MaxInt64), modified: int64(r.fixed()), changed: int64(r.fixed()), inode: r.uvarint(), device: r.uvarint(),
	}
}

func (r *reader) lock(l *lockFacts) {
	b := r.bits()
	l.there, l.settled = b&1 != 0, b&2 != 0
	if !l.there {
		return
	}
	l.look = r.stamp()
	l.problem = r.text()
	l.packs = make([]lockedPack, r.count(4))
	for i := range l.packs {
		l.packs[i] = lockedPack{r.text(), r.text(), r.text(), r.text()}
	}
	l.names = make([]lockedName, r.count(3))
	for i := range l.names {
		n := &l.names[i]
		n.name, n.winner = r.text(), r.text()
		n.shadowed = make([]lockedAlias, r.count(2))
		for j := range n.shadowed {
			n.shadowed[j] = lockedAlias{r.text(), r.text()}
		}
	}
}

func (r *reader) branch(b *branch) {
	b.path = r.text()
	b.look = r.stamp()
	b.settled = r.bits()&1 != 0
	b.problem = r.text()
	n := r.count(2)
	if n > len(r.nodes) || b.path != "" && !inside(b.path) {
		r.fail()
		return
	}
	b.nodes, r.nodes = r.nodes[:n:n], r.nodes[n:]
	for i := range b.nodes {
		r.node(&b.nodes[i])
	}
}

func (r *reader) node(n *node) {
	n.name = r.text()
	if strings.Contains(n.name, "/") || !inside(n.name) {
		r.fail()
		return
	}
	b := r.bits()
	n.link, n.settled = b&1 != 0, b&2 != 0
	if n.link {
		n.target = r.text()
	}
	if b&4 != 0 {
		if len(r.records) == 0 {
			r.fail()
			return
		}
		n.record, r.records = &r.records[0], r.records[1:]
		n.look = r.stamp()
		r.record(n.record)
	}
	if b&8 != 0 {
		n.copy = r.copied()
	}
}

func (r *reader) copied() *copyFacts {
	c := &copyFacts{of: r.text(), file: r.stamp(), dir: r.stamp()}
	c.seen = make([]seen, r.count(20))
	for i := range c.seen {
		c.seen[i] = seen{r.text(), r.stamp()}
	}
	return c
}

// inside reports whether a path from a root stays inside it.
func inside(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part[0] == '.' || strings.ContainsRune(part, filepath.Separator) {
			return false
		}
	}
	return true
}

func (r *reader) record(rec *record) {
	b := r.bits()
	rec.flags = flags(b >> 3 & 15)
	rec.name = r.text()
	rec.description = r.text()
	if b&1 != 0 {
		rec.tags, rec.agents, rec.tenants, rec.environments = r.list(), r.list(), r.list(), r.list()
	}
	if b&2 != 0 {
		rec.when, rec.hint, rec.agent, rec.paragraph = r.text(), r.text(), r.text(), r.text()
		rec.priority = math.Float64frombits(r.fixed())
	}
	if b&4 == 0 {
		return
	}
	rec.fatal, rec.line = r.text(), r.number()
	rec.problems = make([]problem, r.count(5))
	for i := range rec.problems {
		rec.problems[i] = problem{rule: r.text(), severity: diag.Severity(min(r.number(), int(diag.SeverityAdvice))), line: r.number(), message: r.text(), fix: r.text()}
	}
}
