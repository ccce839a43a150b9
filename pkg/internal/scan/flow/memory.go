package flow

// memory is what a reader needs only while it reads a file. The files of a skill are many and most are small, so it is
// used again.
type memory struct {
	keys     map[string]int32
	once     map[string]int32
	ranNames map[string]bool // the programs of [Summary.Programs]
	holes    []value
	marks    []string          // of holes by their numbers
	stack    []value           // of lists that are being evaluated
	names    map[string]string // dotted names
	buf      []byte
	unused   []*code
}

// memories are not in use. A pool would lose them at each garbage collection, of which there are many.
var memories = make(chan *memory, 8)

func takeMemory() *memory {
	select {
	case m := <-memories:
		return m
	default:
		return &memory{
			keys: map[string]int32{}, once: map[string]int32{}, ranNames: map[string]bool{}, names: map[string]string{},
		}
	}
}

// maxKept is how many items a map or list may have to be used again: emptying takes as long as it is large.
const maxKept = 4096

// release ends the use of the reader.
func (r *reader) release() {
	m := r.memory
	if r.memory = nil; len(m.keys)+len(m.names)+len(m.once) > maxKept || cap(m.holes) > maxKept {
		return
	}
	clear(m.keys)
	clear(m.once)
	clear(m.ranNames)
	clear(m.names)
	clear(m.holes)
	m.holes = m.holes[:0]
	select {
	case memories <- m:
	default:
	}
}

// newCode returns a reader of a language. [code.release] ends its use.
func newCode(r *reader, lang Language, sh *shell) *code {
	var c *code
	if n := len(r.unused); n > 0 {
		c, r.unused = r.unused[n-1], r.unused[:n-1]
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
	if len(c.locals)+len(c.funcs)+len(c.imports) > maxKept || cap(c.vars) > maxKept {
		return
	}
	clear(c.imports)
	clear(c.own)
	clear(c.funcs)
	clear(c.required)
	clear(c.locals)
	clear(c.vars)
	clear(c.inner)
	clear(c.args[:cap(c.args)])
	*c = code{
		imports: c.imports, own: c.own, funcs: c.funcs, required: c.required, locals: c.locals, vars: c.vars[:0],
		inner: c.inner[:0], args: c.args[:0], scopes: c.scopes[:0], lexed: c.lexed,
	}
	r.unused = append(r.unused, c)
}

// attributeName returns the name of an attribute. It keeps one text for each name, because code repeats them.
func (m *memory) attributeName(name, attribute string) string {
	m.buf = append(append(append(m.buf[:0], name...), '.'), attribute...)
	if text, ok := m.names[string(m.buf)]; ok {
		return text
	}
	text := string(m.buf)
	m.names[text] = text
	return text
}
