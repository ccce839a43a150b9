package flow

// memory is the scratch space of a reader. It is reused, because a skill has many files, and most of them are small.
type memory struct {
	keys     map[string]int32
	once     map[string]int32
	programs map[string]bool // the programs of [Summary.Programs]
	holes    []value
	marks    []string          // of holes by their numbers
	stack    []value           // of lists that are being evaluated
	names    map[string]string // dotted names
	buf      []byte
	spare    []*code
}

// Pool keeps the scratch space of finished files for the next ones. A [sync.Pool] would lose it at each of the many
// garbage collections. It is safe for concurrent use; a nil Pool keeps nothing.
type Pool chan *memory

// NewPool returns a pool for up to this many files at a time.
func NewPool(files int) Pool { return make(Pool, files) }

func (p Pool) take() *memory {
	select {
	case m := <-p:
		return m
	default:
		return &memory{
			keys: map[string]int32{}, once: map[string]int32{}, programs: map[string]bool{}, names: map[string]string{},
		}
	}
}

// maxKept is the largest size of a map or list that is reused: clearing it takes time in proportion to its size.
const maxKept = 4096

// put keeps memory that is not in use any more, unless it is large.
func (p Pool) put(m *memory) {
	if len(m.keys)+len(m.names)+len(m.once)+len(m.marks) > maxKept || max(cap(m.holes), cap(m.stack)) > maxKept {
		return
	}
	clear(m.keys)
	clear(m.once)
	clear(m.programs)
	clear(m.names)
	clear(m.holes)
	m.holes = m.holes[:0]
	select {
	case p <- m:
	default:
	}
}

// newCode returns a reader of a language. [code.release] ends its use.
func newCode(r *reader, lang Language, sh *shell) *code {
	var c *code
	if n := len(r.spare); n > 0 {
		c, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		c = &code{
			imports: map[string]string{}, own: map[string]bool{}, funcs: map[string]bool{}, required: map[string]bool{},
			locals: map[string]int32{},
		}
	}
	c.reader, c.lang, c.shell = r, lang, sh
	c.scopes = append(c.scopes, scope{col: -1})
	return c
}

func (c *code) release() {
	r := c.reader
	if len(c.locals)+len(c.funcs)+len(c.imports)+len(c.own)+len(c.required) > maxKept ||
		max(cap(c.vars), cap(c.inner), cap(c.args)) > maxKept {
		return
	}
	clear(c.imports)
	clear(c.own)
	clear(c.funcs)
	clear(c.required)
	clear(c.locals)
	clear(c.vars[:cap(c.vars)]) // all of these refer to the text of the file
	clear(c.inner[:cap(c.inner)])
	clear(c.args[:cap(c.args)])
	clear(c.scopes[:cap(c.scopes)])
	*c = code{
		imports: c.imports, own: c.own, funcs: c.funcs, required: c.required, locals: c.locals, vars: c.vars[:0],
		inner: c.inner[:0], args: c.args[:0], scopes: c.scopes[:0], tokenBuf: c.tokenBuf,
	}
	r.spare = append(r.spare, c)
}

// maxKnown is the length in bytes of the longest name that attributeName keeps.
const maxKnown = 80

// attributeName returns the name of an attribute. It keeps one text for each of the first names, because code repeats
// them.
func (m *memory) attributeName(name, attribute string) string {
	m.buf = append(append(append(m.buf[:0], name...), '.'), attribute...)
	if text, ok := m.names[string(m.buf)]; ok {
		return text
	}
	text := string(m.buf)
	if len(text) <= maxKnown && len(m.names) < maxKept {
		m.names[text] = text
	}
	return text
}
